// Package golden compares what a test got with a file that was written before.
package golden

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

// Compare compares got with a file, which it writes first with update.
func Compare(t *testing.T, file string, got []byte, update bool) {
	t.Helper()
	if update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test -update rewrites it:\n%s", file, got)
	}
}

// Objects are the files of a folder as one text.
func Objects(files []object.File) []byte {
	var all bytes.Buffer
	for _, f := range files {
		all.WriteString("---\n# " + f.Name + "\n")
		all.Write(f.Data)
	}
	return all.Bytes()
}
