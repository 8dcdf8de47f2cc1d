package lint_test

import (
	"slices"
	"testing"

	"github.com/winbake/winbake/packer/lint"
)

// TestCheckBuild: what arrives at a machine is held to the checklist without a
// folder.
func TestCheckBuild(t *testing.T) {
	found := lint.CheckBuild(lint.Build{
		Builders: []string{"vsphere-clone"},
		Scripts: []lint.Script{
			{Name: "firewall.ps1", Language: lint.PowerShell, Stage: lint.AtBuild, Text: "New-NetFirewallRule -Name a -Direction Inbound -Protocol TCP -LocalPort 10250 -Action Allow"},
			{Name: "generalize.ps1", Language: lint.PowerShell, Stage: lint.AtBuild, Text: "Start-Process $env:PROGRAM -ArgumentList $env:ARGUMENTS -Wait",
				Env: map[string]string{"PROGRAM": `C:\Windows\System32\Sysprep\sysprep.exe`, "ARGUMENTS": "/generalize /oobe /quit"}},
		},
		Answers: []lint.File{{Name: "unattend.xml", Data: []byte("<not xml")}},
	})
	for want, severity := range map[[2]string]lint.Severity{
		{"template.checklist", "port-10250"}: lint.Pass,
		{"template.checklist", "openssh"}:    lint.Block,
		{"template.sysprep", "sysprep"}:      lint.Pass,
		{"template.answer", "unattend.xml"}:  lint.Block,
	} {
		i := slices.IndexFunc(found, func(f lint.Finding) bool { return f.ID == want[0] && f.Object == want[1] })
		if i < 0 || found[i].Severity != severity {
			t.Errorf("want %v to be %s: %+v", want, severity, found)
		}
	}
}
