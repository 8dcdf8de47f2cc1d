package vcenter

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestMedia: what Packer puts on a CD or floppy is read back from it.
func TestMedia(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "files", "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"autounattend.xml", "sub/a.ps1"} {
		if err := os.WriteFile(filepath.Join(dir, "files", name), []byte("of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for drive, c := range map[string]struct {
		extract []string
		make    [][]string
	}{
		"CD": {fromCD, [][]string{{"xorriso", "-as", "mkisofs", "-J", "-R", "-o", "CD", "files"}}},
		"A":  {fromFloppy, [][]string{{"mformat", "-C", "-f", "1440", "-i", "A", "::"}, {"mcopy", "-s", "-i", "A", "files/autounattend.xml", "files/sub", "::"}}},
	} {
		for _, command := range c.make {
			cmd := exec.Command(command[0], command[1:]...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", command, err, out)
			}
		}
		for range 2 {
			files, err := filesOf(t.Context(), drive, filepath.Join(dir, drive), c.extract)
			if err != nil {
				t.Fatal(err)
			}
			have := map[string]string{}
			for _, f := range files {
				have[f.Path] = string(f.Data)
			}
			if len(have) != 2 || have[drive+`:\autounattend.xml`] != "of autounattend.xml" || have[drive+`:\sub\a.ps1`] != "of sub/a.ps1" {
				t.Errorf("%s has %q", drive, have)
			}
		}
	}
}
