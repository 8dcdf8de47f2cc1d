package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConcurrent finds what starts goroutines. The Packer plugin is a module of its own and runs with -race whole.
func TestConcurrent(t *testing.T) {
	found := map[string]bool{}
	for _, root := range []string{"cmd", "internal", "packer", "payload"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(file string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if e.IsDir() && e.Name() == "plugin" {
				return fs.SkipDir
			}
			if strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") && sideBySide(t, file) {
				found["./"+path.Dir(filepath.ToSlash(file))[len("../../"):]] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for p := range found {
		if !slices.Contains(concurrent, p) {
			t.Errorf("%s does things side by side and isn't tested with -race: add it to concurrent", p)
		}
	}
	for _, p := range concurrent {
		if !found[p] {
			t.Errorf("%s does nothing side by side: take it out of concurrent", p)
		}
	}
}

// TestNeeds: what a step needs was started before it. What no step needs is
// waited for at the end.
func TestNeeds(t *testing.T) {
	for name, steps := range suites {
		started := map[string]bool{}
		for _, s := range steps {
			if s.needs != "" && !started[s.needs] {
				t.Errorf("%s: %q needs %q, which no step before it started", name, s.name, s.needs)
			}
			started[s.name] = s.beside
		}
	}
}

// TestEveryPackageRuns: each package with tests is one of make test or of a part of make e2e.
func TestEveryPackageRuns(t *testing.T) {
	ran := map[string]bool{}
	for _, suite := range []string{"test", "e2e", "e2e-proof"} {
		for _, s := range suites[suite] {
			args := s.args
			if s.packages != nil {
				t.Chdir("../..")
				more, err := s.packages()
				if err != nil {
					t.Fatal(err)
				}
				if len(more) < 3 {
					t.Errorf("%s: only %q", s.name, more)
				}
			}
			for _, arg := range args {
				if s.test && strings.HasPrefix(arg, "./") {
					ran[path.Join(s.dir, arg)] = true
				}
			}
		}
	}
	tests := 0
	err := filepath.WalkDir(".", func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (e.Name() == "testdata" || strings.HasPrefix(e.Name(), "_")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(file, "_test.go") {
			return nil
		}
		tests++
		dir := path.Dir(filepath.ToSlash(file))
		if runs(ran, dir) {
			return nil
		}
		t.Errorf("no suite runs %s", dir)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if tests < 300 {
		t.Errorf("only %d files with tests", tests)
	}
}

func runs(ran map[string]bool, dir string) bool {
	for at := dir; ; at = path.Dir(at) {
		if ran[path.Join(at, "...")] || at == dir && ran[at] {
			return true
		}
		if at == "." {
			return false
		}
	}
}

// TestCount: a process that ends in the midst of its tests has its last words shown.
func TestCount(t *testing.T) {
	const events = `{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Test":"TestB","Output":"signal: killed\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t1s\n"}
{"Action":"fail","Package":"p","Elapsed":1}
`
	var out strings.Builder
	if got := count(strings.NewReader(events), &out); got != (counts{passed: 1}) {
		t.Errorf("%+v", got)
	}
	if got := out.String(); !strings.Contains(got, "signal: killed\n") || !strings.Contains(got, "fail  p ") || strings.Contains(got, "quiet") {
		t.Error(got)
	}
}

func sideBySide(t *testing.T, file string) bool {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), file, data, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	does := slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool {
		return i.Path.Value == `"golang.org/x/sync/errgroup"`
	})
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			does = true
		case *ast.CallExpr: // sync.WaitGroup's
			sel, ok := n.Fun.(*ast.SelectorExpr)
			does = does || ok && sel.Sel.Name == "Go" && len(n.Args) == 1
		}
		return !does
	})
	return does
}
