// Package notices has the licence texts of what programs of Go link, as they say
// themselves (go version -m), out of the module cache that they were built from.
package notices

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"golang.org/x/mod/module"

	"github.com/winbake/winbake/internal/build/component/program"
	"github.com/winbake/winbake/internal/build/pins"
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

// Write writes each text once, below the modules that have it, as bake lock does.
func Write(programs []string, w io.Writer) error {
	goroot, err := goEnv("GOROOT")
	if err != nil {
		return err
	}
	cache, err := goEnv("GOMODCACHE")
	if err != nil {
		return err
	}
	all, linked, read := pins.LicenseTexts{}, []*pins.Locked{}, map[string][]string{} // read by folder: programs share most modules
	of := func(what, dir string) ([]string, error) {
		if texts, ok := read[dir]; ok {
			return texts, nil
		}
		_, texts := program.Licenses(dir, all)
		if read[dir] = texts; len(texts) == 0 {
			return nil, fmt.Errorf("%s has no licence at its top: look, and leave it out of the programs or say here where it is", what)
		}
		return texts, nil
	}
	for _, p := range programs {
		b, err := buildinfo.ReadFile(p)
		if err != nil {
			return fmt.Errorf("read %s: %w", p, err)
		}
		l := &pins.Locked{Toolchain: b.GoVersion}
		if l.ToolchainTexts, err = of("Go "+b.GoVersion, goroot); err != nil {
			return err
		}
		for _, m := range Linked(b) {
			name, err := module.EscapePath(m.Path)
			if err != nil {
				return err
			}
			version, err := module.EscapeVersion(m.Version)
			if err != nil {
				return err
			}
			texts, err := of(m.String(), filepath.Join(cache, filepath.FromSlash(name)+"@"+version))
			if err != nil {
				return err
			}
			l.Modules = append(l.Modules, pins.LockedModule{Path: m.Path, Version: m.Version, Texts: texts})
		}
		linked = append(linked, l)
	}
	data, err := all.Encode(linked)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

func goEnv(name string) (string, error) {
	out, err := exec.Command("go", "env", name).Output()
	return strings.TrimSpace(string(out)), err
}
