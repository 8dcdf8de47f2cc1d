package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const parent = "github.com/winbake/winbake/"

// allowed lists, for each package of this module, the rooms and packages of the project
// that it may import. A new line needs a reason.
var allowed = map[string][]string{
	"packer/plugin":                    {"packer/plugin"}, // main: what there is
	"packer/plugin/version":            {},
	"packer/plugin/internal/comm":      {"internal/base", "internal/windows"}, // reaches a machine, knows nothing of what it is told
	"packer/plugin/internal/record":    {"internal/base", "internal/windows"}, // files, judges nothing
	"packer/plugin/internal/image":     {"internal/base", "internal/windows", "internal/image", "internal/build", "internal/report", "payload", "packer/plugin/internal/record", "packer/plugin/version"},
	"packer/plugin/datasource/payload": {"internal/windows", "packer/plugin/internal/image"},
	"packer/plugin/provisioner/node":   {"internal/base", "internal/windows", "internal/report", "packer/plugin/internal"},

	"packer/plugin/e2e":          {}, // tests, and doubles for them
	"packer/plugin/e2e/shutdown": {},
	"packer/plugin/e2e/fetch":    {},
	"packer/plugin/e2e/vcenter":  {"internal/windows", "packer/answer", "test/wine/winenode"},        // what they build in, and what it refuses
	"packer/plugin/e2e/lab":      {"packer/plugin/e2e/vcenter", "test/packer", "test/wine/winenode"}, // the same, for people
}

// heavy may not come along: the plugin compiles nothing and talks to no cluster.
var heavy = []string{"k8s.io/", parent + "internal/build/compile", parent + "internal/cli"}

func TestImports(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", "./...")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for dec := json.NewDecoder(out); ; seen++ {
		var p struct {
			ImportPath    string
			Imports, Deps []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, parent)
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s isn't in the list: say what it may import, and why", name)
		}
		for _, imp := range p.Imports {
			own, ok := strings.CutPrefix(imp, parent)
			if ok && !slices.ContainsFunc(may, func(m string) bool { return own == m || strings.HasPrefix(own, m+"/") }) {
				t.Errorf("%s imports %s, which the list doesn't allow", name, own)
			}
		}
		for _, dep := range p.Deps {
			if i := slices.IndexFunc(heavy, func(h string) bool { return strings.HasPrefix(dep, h) }); i >= 0 {
				t.Errorf("%s depends on %s", name, dep)
			}
		}
	}
	if err := cmd.Wait(); err != nil || seen != len(allowed) {
		t.Errorf("go list: %v, %d packages, %d in the list", err, seen, len(allowed))
	}
}
