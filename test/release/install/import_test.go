package install

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/internal/cli/app"
)

// TestImport runs the examples of the public packages in another module, which
// has nothing of internal/.
func TestImport(t *testing.T) {
	m := newMachine(t)
	m.dir = filepath.Join(m.dir, "other")
	for _, pkg := range []string{"payload", "packer/template", "packer/answer"} {
		example, err := os.ReadFile(filepath.Join("../../..", pkg, "example_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(m.dir, filepath.Base(pkg))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at, "example_test.go"), example, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.run("go", "mod", "init", "example.com/other")
	m.run("go", "get", "-t", app.Module+"@"+release, "./...")
	t.Log(m.run("go", "test", "./..."))
}
