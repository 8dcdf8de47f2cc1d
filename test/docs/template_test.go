package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/lint"
	"github.com/winbake/winbake/packer/template"
)

// TestTemplateRules holds the table of docs/golden-image.md to the rules that
// there are, and its text to the scripts.
func TestTemplateRules(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(top, "docs/golden-image.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, r := range lint.Rules() {
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", r.ID, r.Severity, r.Title)
	}
	if !strings.Contains(string(data), "| rule | at worst | what holds |\n|---|---|---|\n"+want.String()+"\n") {
		t.Errorf("docs/golden-image.md's table of rules should be\n%s", want.String())
	}
	f, err := template.Render(template.Options{Platform: "vsphere-iso", Windows: template.Windows2022, Payload: template.Payload{Reference: "a", Digest: "sha256:" + strings.Repeat("0", 64)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range f.Files {
		name, isScript := strings.CutPrefix(file.Path, "scripts/")
		if isScript && !strings.Contains(string(data), "`"+name+"`") && name != "winbake.ps1" && name != "winrm.ps1" && name != "ready.ps1" {
			t.Errorf("docs/golden-image.md says nothing of %s", name)
		}
	}
}
