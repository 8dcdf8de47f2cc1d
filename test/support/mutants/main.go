// Command mutants changes one place of the product after the other and runs `make
// test`'s tests on each: a mutant that no test notices shows what isn't tested. The places
// are chosen by a seed, the changes are overlays: no file is written. It is for
// maintainers (`make mutants`) and takes minutes a mutant.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// rooms are the packages of the three jobs: payload, golden image, skew.
var rooms = []string{"payload", "packer/answer", "packer/builder", "packer/lint", "packer/template", "internal"}

// all are the other tests of make test, by what notices first.
var all = [][]string{
	{"./internal/...", "./payload/...", "./packer/..."},
	{"./test/skew", "./test/images"},
	{"-run=TestStates$", "./test/cluster/states"},
	{"./test/script", "./test/docs", "./test/imports", "./cmd/..."},
}

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 200, "mutants")
	seed := flag.Uint64("seed", 1, "which")
	least := flag.Float64("least", 0.9, "share that tests must kill")
	flag.Parse()
	files, err := product()
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		log.Fatal(err)
	}
	chosen, killed := rand.New(rand.NewPCG(*seed, 0)), 0
	for made := 0; made < *n; {
		m, ok := mutate(files[chosen.IntN(len(files))], chosen)
		if !ok || !m.compiles(dir) {
			continue
		}
		made++
		end := "SURVIVES"
		if by := m.killer(dir); by != "" {
			end = "killed by " + by
			killed++
		}
		fmt.Printf("%3d %s: %s: %s\n", made, m.at, m.what, end)
	}
	fmt.Printf("%d of %d mutants killed\n", killed, *n)
	if err := os.RemoveAll(dir); err != nil {
		log.Fatal(err)
	}
	if float64(killed) < *least*float64(*n) {
		log.Fatalf("the least is %.0f %%", *least*100)
	}
}

// product are the files that may be changed: those that this machine compiles.
func product() (files []string, err error) {
	for _, room := range rooms {
		err := filepath.WalkDir(room, func(name string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() && (e.Name() == "testdata" || name == filepath.FromSlash("internal/windows/agent")) {
				return filepath.SkipDir
			}
			if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_windows.go") {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// mutant is a file with one place changed.
type mutant struct{ file, at, what, text string }

// place is a piece of a file, and what it becomes.
type place struct {
	from, to token.Pos
	now      string
}

// other are the operators that an operator is mistaken for.
var other = map[token.Token]token.Token{
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
}

// mutate changes one place of a file; false for a file without one.
func mutate(file string, chosen *rand.Rand) (mutant, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, 0)
	if err != nil {
		log.Fatal(err)
	}
	var places []place
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if op, ok := other[n.Op]; ok {
				places = append(places, place{n.OpPos, n.OpPos + token.Pos(len(n.Op.String())), op.String()})
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT {
				places = append(places, place{n.OpPos, n.OpPos + 1, ""})
			}
		case *ast.ExprStmt:
			places = append(places, place{n.Pos(), n.End(), ""})
		case *ast.Ident:
			switch n.Name {
			case "true":
				places = append(places, place{n.Pos(), n.End(), "false"})
			case "false":
				places = append(places, place{n.Pos(), n.End(), "true"})
			}
		case *ast.IfStmt:
			places = append(places, place{n.Cond.Pos(), n.Cond.End(), "false && (" + string(text[set.Position(n.Cond.Pos()).Offset:set.Position(n.Cond.End()).Offset]) + ")"})
		}
		return true
	})
	if len(places) == 0 {
		return mutant{}, false
	}
	p := places[chosen.IntN(len(places))]
	from, to := set.Position(p.from).Offset, set.Position(p.to).Offset
	return mutant{
		file: file, at: fmt.Sprintf("%s:%d", file, set.Position(p.from).Line), what: fmt.Sprintf("%q becomes %q", text[from:to], p.now),
		text: string(text[:from]) + p.now + string(text[to:]),
	}, true
}

// compiles writes the overlay, and tells whether the go command takes it.
func (m mutant) compiles(dir string) bool {
	changed := filepath.Join(dir, "changed.go")
	here, err := filepath.Abs(m.file)
	if err != nil {
		log.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{here: changed}})
	if err == nil {
		err = os.WriteFile(changed, []byte(m.text), 0o600)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
	return exec.Command("go", "vet", "-overlay", filepath.Join(dir, "overlay.json"), m.home()).Run() == nil
}

func (m mutant) home() string { return "./" + path.Dir(filepath.ToSlash(m.file)) }

// killer is the first step whose tests fail; "" for none.
func (m mutant) killer(dir string) string {
	for _, tests := range append([][]string{{m.home()}}, all...) {
		args := append([]string{"test", "-vet=off", "-timeout=10m", "-overlay", filepath.Join(dir, "overlay.json")}, tests...)
		if exec.Command("go", args...).Run() != nil {
			return strings.Join(tests, " ")
		}
	}
	return ""
}
