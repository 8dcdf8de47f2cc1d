package main

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what is generated")

// generated are the files with configurations, and the types in them.
var generated = map[string]string{
	"datasource/payload/data.go": "Config,Output,File,Service",
	"provisioner/node/config.go": "Config",
}

// pages are the documents, and where the integrations page wants them.
var pages = map[string]string{
	"README.md":               ".web-docs/README.md",
	"datasources/payload.mdx": ".web-docs/components/data-source/payload/README.md",
	"provisioners/node.mdx":   ".web-docs/components/provisioner/node/README.md",
}

// sdc runs the SDK's tool, at the version that go.mod has.
func sdc(t *testing.T, dir string, args ...string) {
	t.Helper()
	tool, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "packer-sdc").Output()
	if err != nil {
		t.Fatalf("go tool -n packer-sdc: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), strings.TrimSpace(string(tool)), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("packer-sdc %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// current compares a file with what it should be, or writes it.
func current(t *testing.T, name string, want []byte) {
	t.Helper()
	have, err := os.ReadFile(name)
	if err == nil && bytes.Equal(have, want) {
		return
	}
	if !*update {
		t.Errorf("%s isn't current: go test . -update", name)
		return
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// copied is the module in a folder that the SDK's tool may write into. It takes
// nothing but one that is called packer-plugin-something.
func copied(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "packer-plugin-winbake")
	parent, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range tree(t, ".") {
		if !strings.HasSuffix(name, ".go") && name != "go.mod" && name != "go.sum" {
			continue
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		data = bytes.Replace(data, []byte("=> ../.."), []byte("=> "+parent), 1)
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSpecs: what Packer is told of configurations is what the Go types say.
func TestSpecs(t *testing.T) {
	dir := copied(t)
	for name, types := range generated {
		spec := strings.TrimSuffix(name, ".go") + ".hcl2spec.go"
		if err := os.Remove(filepath.Join(dir, spec)); err != nil {
			t.Fatal(err)
		}
		sdc(t, filepath.Join(dir, filepath.Dir(name)), "mapstructure-to-hcl2", "-type", types, filepath.Base(name))
		current(t, spec, read(t, filepath.Join(dir, spec)))
	}
}

// TestDocs: partials say what the Go comments say, and the rendered pages what
// both the partials and docs/ do.
func TestDocs(t *testing.T) {
	dir := copied(t)
	for name := range generated {
		sdc(t, dir, "struct-markdown", name)
	}
	sdc(t, dir, "struct-markdown", "internal/image/options.go") // which two of them have
	made := tree(t, filepath.Join(dir, "docs-partials"))
	for _, name := range slices.Sorted(maps.Keys(made)) {
		current(t, filepath.Join("docs-partials", name), made[name])
	}
	for name := range tree(t, "docs-partials") {
		if made[name] == nil {
			t.Errorf("docs-partials/%s is of nothing that is there", name)
		}
	}
	rendered := filepath.Join(dir, "rendered")
	sdc(t, ".", "renderdocs", "-src", "docs", "-partials", filepath.Join(dir, "docs-partials"), "-dst", rendered)
	for name, page := range pages {
		current(t, page, withoutHead(read(t, filepath.Join(rendered, name))))
	}
	if n := len(tree(t, "docs")); n != len(pages) {
		t.Errorf("docs has %d pages, %d are rendered", n, len(pages))
	}
}

// withoutHead takes the front matter and the title away, which the page has of
// its own.
func withoutHead(page []byte) []byte {
	if rest, ok := bytes.CutPrefix(page, []byte("---\n")); ok {
		_, page, _ = bytes.Cut(rest, []byte("\n---\n"))
	}
	page = bytes.TrimLeft(page, "\n")
	if bytes.HasPrefix(page, []byte("# ")) {
		_, page, _ = bytes.Cut(page, []byte("\n"))
	}
	return append(bytes.TrimSpace(page), '\n')
}

// tree is every file below a folder.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		files[rel] = read(t, path)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return files
}
