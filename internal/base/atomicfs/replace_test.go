package atomicfs

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestReplaceDirInSteps(t *testing.T) {
	parent := t.TempDir()
	temp, dir := filepath.Join(parent, "temp"), filepath.Join(parent, "dir")
	for i, want := range []string{"one", "two"} {
		if err := os.Mkdir(temp, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(temp, "x"), []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := replaceDirInSteps(temp, dir); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, "x"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(f); err != nil || string(got) != want {
			t.Errorf("round %d: %q, %v", i, got, err)
		}
		if entries, _ := os.ReadDir(parent); len(entries) != 1 {
			t.Errorf("round %d: left %v", i, entries)
		}
	}
}
