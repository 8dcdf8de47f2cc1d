// Package imports holds the house together: which package may import which,
// and why. It has no code of its own.
package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/support/program"
)

const module = "github.com/winbake/winbake/"

// A room is a folder of the program that is read as one thing. It may import the
// rooms that it names and itself; since they have no circle, arrows run downwards.
type room struct {
	imports []string // the rooms below it that it may use
	lines   int      // what it may have, without tests: a line over replaces another
}

var rooms = map[string]room{
	"cmd":              {[]string{"internal/cli"}, 40},
	"internal/cli":     {[]string{"packer", "payload", "internal/report", "internal/skew", "internal/build", "internal/cluster", "internal/windows", "internal/image", "internal/base"}, 7000},
	"hack":             {[]string{"internal/image"}, 200},
	"internal/report":  {[]string{"internal/skew", "internal/cluster", "internal/base"}, 3200},
	"internal/skew":    {[]string{"internal/cluster", "internal/base"}, 8860},
	"internal/build":   {[]string{"payload", "internal/cluster", "internal/windows", "internal/image", "internal/base"}, 6890},
	"internal/cluster": {[]string{"internal/windows", "internal/image", "internal/base"}, 14004},
	"internal/windows": {[]string{"payload", "internal/image", "internal/base"}, 6060},
	"packer":           {[]string{"internal/base"}, 3860},
	"payload":          {[]string{"internal/image", "internal/base"}, 2980},
	"internal/image":   {[]string{"internal/base"}, 3840},
	"internal/base":    {nil, 3700},
}

// forbidden is what a room, or a package of one, does not do itself: no network,
// no programs, no files. Only cli and console print.
var forbidden = map[string][]string{
	"internal/skew":              {"net", "net/http", "os", "os/exec"},
	"internal/report":            {"net", "net/http", "os", "os/exec"},
	"internal/base":              {"net", "net/http"},
	"internal/base/fault":        {"os", "os/exec"},
	"internal/base/finding":      {"os", "os/exec"},
	"internal/base/version":      {"os", "os/exec"},
	"internal/build/pins":        {"net", "net/http", "os/exec"},
	"internal/build/expect":      {"net", "net/http", "os", "os/exec"},
	"internal/cluster/catalog":   {"net", "net/http", "os/exec"},
	"internal/cluster/inventory": {"os/exec"},
	"internal/cluster/manifests": {"net", "net/http", "os", "os/exec"},
	"internal/windows/pe":        {"net", "net/http", "os", "os/exec"},
	"internal/windows/winsvc":    {"net", "net/http", "os", "os/exec"},
	"packer":                     {"net", "net/http", "os/exec"},
	"payload":                    {"os/exec"},
}

type pkg struct {
	ImportPath, Dir  string
	GoFiles, Imports []string
}

func listPackages(t *testing.T) map[string]pkg {
	t.Helper()
	if err := program.Depend("../.."); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./cmd/...", "./internal/...", "./packer/...", "./payload/...", "./hack/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := map[string]pkg{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return found
		} else if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimPrefix(p.ImportPath, module)] = p
	}
}

// roomOf is the room of a package: its first folder, or below internal its first two.
func roomOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if parts[0] == "internal" && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

func TestImportsRunDownwards(t *testing.T) {
	for name, p := range listPackages(t) {
		own, known := rooms[roomOf(name)]
		if !known {
			t.Errorf("package %s is in no room", name)
			continue
		}
		for _, imp := range p.Imports {
			if other, ok := strings.CutPrefix(imp, module); ok && roomOf(other) != roomOf(name) && !slices.Contains(own.imports, roomOf(other)) {
				t.Errorf("%s imports %s, which its room may not", name, other)
			}
			for place, banned := range forbidden {
				if (name == place || strings.HasPrefix(name, place+"/")) && slices.Contains(banned, imp) {
					t.Errorf("%s imports %s, which nothing in %s may", name, imp, place)
				}
			}
		}
	}
}

// TestRoomsHaveNoCircle: what a room may import may not lead back to it.
func TestRoomsHaveNoCircle(t *testing.T) {
	var reach func(from string, path []string)
	reach = func(from string, path []string) {
		if slices.Contains(path, from) {
			t.Fatalf("a circle: %v", append(path, from))
		}
		for _, to := range rooms[from].imports {
			reach(to, append(slices.Clone(path), from))
		}
	}
	for name := range rooms {
		reach(name, nil)
	}
}

// TestRoomsKeepTheirBudgets: the lines of a room, without tests and generated files.
func TestRoomsKeepTheirBudgets(t *testing.T) {
	lines := map[string]int{}
	for name, p := range listPackages(t) {
		files, err := filepath.Glob(filepath.Join(p.Dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "hcl2spec.go") {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines[roomOf(name)] += bytes.Count(text, []byte("\n"))
		}
	}
	for name, r := range rooms {
		if lines[name] > r.lines {
			t.Errorf("%s has %d lines, more than its %d", name, lines[name], r.lines)
		}
		if lines[name] == 0 {
			t.Errorf("%s is in the list and not in the tree", name)
		}
	}
}

// TestEveryRoomIsDescribed: docs/architecture.md has a row for each room, and for
// no other.
func TestEveryRoomIsDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]bool{"test": true}
	for row := range strings.Lines(string(page)) {
		if rest, ok := strings.CutPrefix(row, "| `"); ok {
			name, _, _ := strings.Cut(rest, "`")
			rows[strings.TrimSuffix(name, "/")] = true
		}
	}
	for name := range rooms {
		if !rows[name] {
			t.Errorf("docs/architecture.md has no row for %s", name)
		}
	}
	for row := range rows {
		if _, ok := rooms[row]; !ok && strings.HasPrefix(row, "internal/") {
			t.Errorf("docs/architecture.md has a row for %s, which isn't there", row)
		}
	}
}

// The public package is for others to import: it may pull in the registry
// client, and nothing of a command line.
func TestPayloadStaysLight(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./payload")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, heavy := range []string{"github.com/spf13/cobra", "github.com/goccy/go-yaml", "github.com/winbake/winbake/internal/build/compile", "k8s.io/"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("payload depends on %s", heavy)
		}
	}
}

// What judges reads, fetches and writes nothing, and neither does what it reaches:
// object makes the text that others write. It reaches no reader.
func TestSkewIsPure(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./internal/skew")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	readers := []string{"internal/cluster/inventory/cluster", "internal/cluster/inventory/kube", "internal/cluster/inventory/manifests", "internal/cluster/inventory/mustgather", "internal/cluster/inventory/release", "internal/cluster/inventory/resolve"}
	pure := []string{"internal/skew", "internal/base", "internal/cluster/catalog", "internal/cluster/inventory", "internal/cluster/manifests"}
	for line := range strings.Lines(string(out)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), module)
		if ok && !slices.ContainsFunc(pure, func(p string) bool { return own == p || strings.HasPrefix(own, p+"/") }) || slices.Contains(readers, own) {
			t.Errorf("internal/skew reaches %s", own)
		}
	}
}

// verify.exe is carried in images and copied to nodes: it reads payloads with
// what bake and verify read images with, which took it from 13 to 16 MB, and
// holds nothing of a cluster or a compiler.
func TestNodeStaysSmall(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/verify/node")
	cmd.Dir = "../.."
	cmd.Env = append(cmd.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, heavy := range []string{"k8s.io/", "github.com/goccy/go-yaml", "golang.org/x/crypto/ssh", module + "internal/build/"} {
		if strings.Contains(string(out), heavy) {
			t.Errorf("verify.exe depends on %s", heavy)
		}
	}
	if !strings.Contains(string(out), "golang.org/x/sys/windows/svc/mgr") {
		t.Error("verify.exe doesn't ask the service manager: are these the packages for Windows?")
	}
}

// advice is what no message may give: what is in the way is moved aside,
// replaced with a flag, or left where it is.
var advice = regexp.MustCompile("\\brm -|\\brm [-/~$'\"]|sc\\.exe delete|\\b(remove|delete) (it|this|them|these)\\b( one| file| folder)?(,|:|;|\"|`| and)")

func TestNoMessageAdvisesToDelete(t *testing.T) {
	literals := 0
	for where, p := range listPackages(t) {
		if strings.HasPrefix(where, "internal/skew/") {
			continue // a plan's steps take a DaemonSet away once its successor is known
		}
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					literals++
					if said := advice.FindString(text.Value); said != "" {
						t.Errorf("%s in %s: %s", said, name, text.Value)
					}
				}
				return true
			})
		}
	}
	if literals < 5000 {
		t.Errorf("only %d strings were looked at", literals)
	}
}
