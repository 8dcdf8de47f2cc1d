package lint_test

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/packer/lint"
)

// What a script downloads and runs without a sum is found without any template.
func ExampleCheckBuild() {
	found := lint.CheckBuild(lint.Build{
		Profile:  "generic",
		Builders: []string{"vsphere-iso"},
		Scripts: []lint.Script{{
			Name: "scripts/tools.ps1", Language: lint.PowerShell, Stage: lint.AtBuild,
			Text: "Invoke-WebRequest https://example.com/tools.exe -OutFile C:\\tools.exe\nC:\\tools.exe /S\n",
		}},
	})
	for _, f := range found {
		if strings.HasPrefix(f.Object, "scripts/tools.ps1") {
			fmt.Println(f.ID, f.Severity, f.Object)
		}
	}
	// Output:
	// template.download WARN scripts/tools.ps1
}
