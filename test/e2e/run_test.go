//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/test/wine"
)

// noVersion are the programs that know no --version: they start with --help.
// csi-proxy writes its version to its log (test/wine/winenode reads it there).
var noVersion = map[string]bool{"csi-proxy.exe": true, "kube-log-runner.exe": true}

var versionForm = regexp.MustCompile(`^v?\d+\.\d+\.\d+`)

// checkStart starts every program of the clone's payload in Wine, and compares the
// version that each gives with its stamps.
func checkStart(t *testing.T, c clone) {
	t.Helper()
	c.run(t, "bin/bake", "payload", "--format", "flat", "--dir", "_output/run")
	file, err := pins.Load(filepath.Join(c.dir, "versions.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ready, err := file.Ready(nil, "")
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := wine.NewPrefix(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer prefix.Close()
	programs := 0
	for _, r := range ready {
		if !r.Component.Program() {
			continue
		}
		programs++
		arg, exe := "--version", filepath.Join(c.dir, "_output/run", r.Component.Payload)
		if noVersion[filepath.Base(exe)] {
			arg = "--help"
		}
		o, err := prefix.Run(t.Context(), exe, arg)
		if err != nil || o.Exit != 0 || o.Crash != "" || arg == "--version" && !saysVersion(o.Text, r.Stamps) {
			t.Errorf("%s %s: %+v, %v; its stamps are %v", exe, arg, o, err, r.Stamps)
		}
	}
	const all = 12 // of versions.yaml
	if programs != all {
		t.Fatalf("%d programs, want %d", programs, all)
	}
}

// saysVersion tells whether a stamped version is a word of the text: v1.2.30 isn't
// v1.2.3.
func saysVersion(text string, stamps map[string]string) bool {
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n,;:()\"'", r) })
	for _, v := range stamps {
		if versionForm.MatchString(v) && slices.Contains(words, v) {
			return true
		}
	}
	return false
}
