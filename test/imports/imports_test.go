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
	"internal/cli":     {[]string{"packer", "payload", "internal/report", "internal/skew", "internal/build", "internal/cluster", "internal/windows", "internal/image", "internal/base"}, 7313},
	"hack":             {[]string{"internal/build", "internal/image"}, 1990},
	"internal/report":  {[]string{"internal/skew", "internal/cluster", "internal/base"}, 2800},
	"internal/skew":    {[]string{"internal/cluster", "internal/base"}, 9182},
	"internal/build":   {[]string{"payload", "internal/cluster", "internal/windows", "internal/image", "internal/base"}, 9186},
	"internal/cluster": {[]string{"internal/windows", "internal/image", "internal/base"}, 13459},
	"internal/windows": {[]string{"payload", "internal/image", "internal/base"}, 5937},
	"packer":           {[]string{"internal/base"}, 5400},
	"payload":          {[]string{"internal/image", "internal/base"}, 2957},
	"internal/image":   {[]string{"internal/base"}, 4115},
	"internal/base":    {nil, 2902},
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

// linesOf are the lines of each folder that has Go files of the product: without
// tests, what only tests use, and generated files.
func linesOf(t *testing.T) map[string]int {
	t.Helper()
	lines := map[string]int{}
	for _, top := range []string{"cmd", "hack", "internal", "packer", "payload"} {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "testdata" || d.Name() == "e2e") {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "hcl2spec.go") {
				return nil
			}
			text, err := os.ReadFile(path)
			lines[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../../")] += bytes.Count(text, []byte("\n"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return lines
}

// TestRoomsKeepTheirBudgets: no room has more lines than its budget.
func TestRoomsKeepTheirBudgets(t *testing.T) {
	sums := map[string]int{}
	for name, lines := range linesOf(t) {
		sums[roomOf(name)] += lines
	}
	total := 0
	for name, r := range rooms {
		total += sums[name]
		if sums[name] > r.lines {
			t.Errorf("%s has %d lines, more than its %d", name, sums[name], r.lines)
		}
		if sums[name] == 0 {
			t.Errorf("%s is in the list and not in the tree", name)
		}
	}
	t.Logf("%d lines in all", total)
}

// TestFoldersAreFew: a ninth folder below internal, or a fifteenth below test, needs a reason.
func TestFoldersAreFew(t *testing.T) {
	for dir, most := range map[string]int{"internal": 8, "test": 14} {
		entries, err := os.ReadDir(filepath.Join("../..", dir))
		if err != nil {
			t.Fatal(err)
		}
		entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return !e.IsDir() })
		if len(entries) > most {
			t.Errorf("%s has %d folders, more than %d: %v", dir, len(entries), most, entries)
		}
	}
}

// TestEveryRoomIsDescribed: the tree of docs/architecture.md has each room, and no other folder.
func TestEveryRoomIsDescribed(t *testing.T) {
	_, tree, _ := strings.Cut(readPage(t, "architecture.md"), "```\n")
	tree, _, _ = strings.Cut(tree, "```")
	shown := map[string]bool{"test": true}
	for line := range strings.Lines(tree) {
		below := ""
		if strings.HasPrefix(line, "  ") {
			below = "internal/"
		}
		if name, _, _ := strings.Cut(strings.Fields(line)[0], "/"); name != "internal" {
			shown[below+name] = true
		}
	}
	for name := range rooms {
		if !shown[name] {
			t.Errorf("docs/architecture.md doesn't show %s", name)
		}
	}
	for name := range shown {
		if _, ok := rooms[name]; !ok && name != "test" {
			t.Errorf("docs/architecture.md shows %s, which isn't there", name)
		}
	}
}

// TestWalksNameWhatThereIs: each `package.Name` of docs/architecture.md is declared in a package of that name.
func TestWalksNameWhatThereIs(t *testing.T) {
	declared := map[string]bool{}
	for name, p := range listPackages(t) {
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				declare(declared, filepath.Base(name), d)
			}
		}
	}
	page := readPage(t, "architecture.md")
	walks := page[strings.Index(page, "## From versions.yaml"):strings.Index(page, "## Why")]
	names := regexp.MustCompile("`([a-z]+(?:\\.[A-Z][A-Za-z]*)+)`").FindAllStringSubmatch(walks, -1)
	if len(names) != 32 {
		t.Errorf("%d names in the walks", len(names))
	}
	for _, name := range names {
		if !declared[name[1]] {
			t.Errorf("docs/architecture.md names %s, which isn't declared", name[1])
		}
	}
}

func declare(into map[string]bool, pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			if named, ok := receiver.(*ast.Ident); ok {
				name = named.Name + "." + name
			}
		}
		into[pkg+"."+name] = true
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if named, ok := spec.(*ast.TypeSpec); ok {
				into[pkg+"."+named.Name.Name] = true
			}
		}
	}
}

// TestChangesNameTheirRoom: each change of docs/how-to-add.md says in which room it is made.
func TestChangesNameTheirRoom(t *testing.T) {
	changes := strings.Split(readPage(t, "how-to-add.md"), "\n## ")[1:]
	if len(changes) != 6 {
		t.Errorf("%d changes, not 6", len(changes))
	}
	for _, change := range changes {
		title, rest, _ := strings.Cut(change, "\n")
		named := regexp.MustCompile("^\nRoom: `([a-z/]+)`").FindStringSubmatch(rest)
		if named == nil {
			t.Errorf("%s: no room", title)
		} else if _, ok := rooms[named[1]]; !ok {
			t.Errorf("%s: %s is no room", title, named[1])
		}
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
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
	readers := []string{"internal/cluster/inventory/cluster", "internal/cluster/inventory/kube", "internal/cluster/inventory/manifests", "internal/cluster/inventory/mustgather", "internal/cluster/inventory/release"}
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
