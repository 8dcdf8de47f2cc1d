//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spoilt is a build of a template in which one file was changed.
func spoilt(t *testing.T, platform, file string, change func(string) string) (*build, *center) {
	t.Helper()
	b, v := templated(t, platform)
	path := filepath.Join(b.dir, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(string(text))
	if changed == string(text) {
		t.Fatalf("%s isn't changed", file)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return b, v
}

// TestBrokenTemplate: what a real build fails at fails here, and says what.
func TestBrokenTemplate(t *testing.T) {
	for name, c := range map[string]struct {
		platform, file string
		change         func(string) string
		words          []string
	}{
		"a step that PowerShell can't parse": {"vsphere-clone", "scripts/ready.ps1", func(s string) string { return s + "throw \"broken\n" },
			[]string{`The string is missing the terminator: ".`, "Script exited with non-zero exit status: 1"}},
		"an answer file that is no XML": {"vsphere-iso", "answers/autounattend.xml.pkrtpl", func(string) string { return "<not xml" },
			[]string{"Windows Setup, or the first logon, would stop", "autounattend.xml"}},
		"a script of the first logon that PowerShell can't parse": {"vsphere-iso", "scripts/winbake.ps1", func(s string) string { return s + "}\n" },
			[]string{`CD:\winbake.ps1`, "Unexpected token '}'"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, v := spoilt(t, c.platform, c.file, c.change)
			b.fails(c.words...)
			v.onlyOriginal()
			b.noRecord("golden-1")
		})
	}
}

// onFloppy puts what vsphere-iso's template has on a CD onto a floppy.
func onFloppy(s string) string {
	return strings.NewReplacer("  cd_content = {", "  floppy_content = {", `cd_label = "PROVISION"`, `floppy_label = "FLOPPY"`).Replace(s)
}

// TestFloppy: Windows Setup reads an answer file on a floppy too.
func TestFloppy(t *testing.T) {
	t.Parallel()
	b, v := spoilt(t, "vsphere-iso", "image.pkr.hcl", onFloppy)
	if out := b.must(); !v.machines()["golden-1"] {
		t.Errorf("no template:\n%s", out)
	}
}

func TestBrokenFloppy(t *testing.T) {
	t.Parallel()
	b, v := spoilt(t, "vsphere-iso", "image.pkr.hcl", func(s string) string {
		return strings.Replace(onFloppy(s), `autounattend.xml"`, `autounattend.old"`, 1)
	})
	b.fails("no CD or floppy of the machine has autounattend.xml")
	v.onlyOriginal()
}
