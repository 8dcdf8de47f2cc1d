package document

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInsert(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	for _, c := range []struct{ before, after string }{
		{"a\n<!-- bench -->\nold\n<!-- /bench -->\nb\n", "a\n<!-- bench -->\nnew\n<!-- /bench -->\nb\n"},
		{"a\n<!-- bench -->\nold\n", ""},
		{"no markers\n", ""},
	} {
		if err := os.WriteFile(file, []byte(c.before), 0o644); err != nil {
			t.Fatal(err)
		}
		err := Insert(file, "bench", "new\n")
		got, rerr := os.ReadFile(file)
		if rerr != nil {
			t.Fatal(rerr)
		}
		switch {
		case c.after == "" && (err == nil || !strings.Contains(err.Error(), "markers") || string(got) != c.before):
			t.Errorf("%q: %v, %q", c.before, err, got)
		case c.after != "" && (err != nil || string(got) != c.after):
			t.Errorf("%q: %v, %q", c.before, err, got)
		}
	}
}

// Two tables stand in one document, and one doesn't touch the other.
func TestInsertByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "doc.md")
	const before = "<!-- bench -->\na\n<!-- /bench -->\n<!-- bench cluster -->\nb\n<!-- /bench cluster -->\n"
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Insert(file, "bench cluster", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if want := strings.Replace(before, "b\n<", "new\n<", 1); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}
