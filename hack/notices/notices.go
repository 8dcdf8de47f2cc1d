// Package notices has the licence texts of what programs of Go link, as they say
// themselves (go version -m), out of the module cache that they were built from.
package notices

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// Linked are the modules of a program, as they were built.
func Linked(b *debug.BuildInfo) (all []module.Version) {
	for _, m := range b.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		all = append(all, module.Version{Path: m.Path, Version: m.Version})
	}
	return all
}

// texts are the names of files with a licence at the top of a module.
var texts = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|UNLICENSE|MIT-LICENSE|NOTICE|PATENTS)`)

// Write writes each text once, below the modules that have it.
func Write(programs []string, w io.Writer) error {
	goroot, err := goEnv("GOROOT")
	if err != nil {
		return err
	}
	cache, err := goEnv("GOMODCACHE")
	if err != nil {
		return err
	}
	folders := map[string]string{}
	for _, p := range programs {
		b, err := buildinfo.ReadFile(p)
		if err != nil {
			return fmt.Errorf("read %s: %w", p, err)
		}
		folders["Go "+b.GoVersion] = goroot
		for _, m := range Linked(b) {
			name, err := module.EscapePath(m.Path)
			if err != nil {
				return err
			}
			version, err := module.EscapeVersion(m.Version)
			if err != nil {
				return err
			}
			folders[m.Path+" "+m.Version] = filepath.Join(cache, filepath.FromSlash(name)+"@"+version)
		}
	}
	of := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folders[name])
		if err != nil {
			return fmt.Errorf("read the module %s: %w", name, err)
		}
		found := false
		for _, e := range entries {
			if !e.Type().IsRegular() || !texts.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folders[name], e.Name()))
			if err != nil {
				return err
			}
			found = true
			of[string(text)] = append(of[string(text)], name)
		}
		if !found {
			return fmt.Errorf("%s has no licence at its top: look, and leave it out of the programs or say here where it is", name)
		}
	}
	first := func(text string) string { return of[text][0] }
	for _, text := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Or(strings.Compare(first(a), first(b)), strings.Compare(a, b)) }) {
		line := strings.Repeat("=", 80)
		if _, err := fmt.Fprintf(w, "%s\n%s\n%s\n\n%s\n\n", line, strings.Join(of[text], "\n"), line, strings.TrimSpace(text)); err != nil {
			return err
		}
	}
	return nil
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}
