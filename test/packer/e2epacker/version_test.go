//go:build e2e

package e2epacker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/template"
	"github.com/winbake/winbake/test/packer"
)

// TestTooOld: a Packer or a plugin that is older than the template asks for
// ends packer validate, which says what to do. The templates ask for more here
// than there is.
func TestTooOld(t *testing.T) {
	for _, tool := range packer.Packers {
		p := packer.New(t, tool, packer.Plugin("vsphere"))
		p.Env = secrets
		for name, c := range map[string]struct {
			old, new string
			want     []string
		}{
			"Packer": {`">= 1.12.0, < 2.0.0"`, `">= 1.99.0, < 2.0.0"`,
				[]string{"Unsupported Packer Core version", "https://developer.hashicorp.com/packer/install", "doesn't support Packer version " + p.Version}},
			"the plugin": {`">= 1.4.2, < 2.0.0"`, `">= 1.99.0, < 2.0.0"`,
				[]string{"github.com/hashicorp/vsphere >= 1.99.0, < 2.0.0", "packer init"}},
		} {
			t.Run(name+", Packer "+p.Version, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "image")
				f, err := template.Render(template.Options{Platform: "vsphere-iso", WithoutPayload: true})
				if err != nil {
					t.Fatal(err)
				}
				if err := template.Write(t.Context(), dir, f); err != nil {
					t.Fatal(err)
				}
				versions := filepath.Join(dir, "versions.pkr.hcl")
				text, err := os.ReadFile(versions)
				if err != nil || !strings.Contains(string(text), c.old) {
					t.Fatalf("no %s in\n%s%v", c.old, text, err)
				}
				if err := os.WriteFile(versions, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := p.Run(t.Context(), dir, "validate", "-var-file="+writeValues(t, "vsphere-iso"), ".")
				folded := strings.ReplaceAll(strings.Join(strings.Fields(out), " "), "does not", "doesn't")
				for _, want := range c.want {
					if err == nil || !strings.Contains(folded, want) {
						t.Errorf("want %q, have %v\n%s", want, err, out)
					}
				}
			})
		}
	}
}

// TestNoISO: a template that has nothing to install is refused by both versions
// of Packer, also while the payload isn't read yet.
func TestNoISO(t *testing.T) {
	own, err := packer.Own(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "image")
	f, err := template.Render(template.Options{Platform: "vsphere-iso", Payload: template.Payload{Reference: "quay.io/example/payload@" + checksum, Digest: checksum}})
	if err != nil {
		t.Fatal(err)
	}
	if err := template.Write(t.Context(), dir, f); err != nil {
		t.Fatal(err)
	}
	for _, tool := range packer.Packers {
		p := packer.New(t, tool, packer.Plugin("vsphere"))
		p.Install(t, own, packer.OwnSource)
		p.Env = secrets
		out, err := p.Run(t.Context(), dir, "validate", "-var-file="+writeValues(t, "vsphere-iso"), "-var=iso_path=", ".")
		if err == nil || !strings.Contains(strings.Join(strings.Fields(out), " "), "iso_path or iso_url: one of them") {
			t.Errorf("Packer %s: %v\n%s", p.Version, err, out)
		}
	}
}
