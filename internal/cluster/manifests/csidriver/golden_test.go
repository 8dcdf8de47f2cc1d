package csidriver_test

import (
	"flag"
	"path/filepath"
	"testing"

	goldenfile "github.com/winbake/winbake/test/support/golden"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	goldenfile.Compare(t, filepath.Join("testdata", name), got, *update)
}
