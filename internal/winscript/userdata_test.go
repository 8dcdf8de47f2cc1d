package winscript

import (
	"strings"
	"testing"
)

// TestParts: each script with its language, on its line.
func TestParts(t *testing.T) {
	type want struct {
		language, text string
		line           int
	}
	for text, wants := range map[string][]want{
		"<powershell>\nGet-Date\n</powershell>\n<script>ver</script>": {{"cmd", "ver", 4}, {"powershell", "Get-Date", 2}},
		"<persist>true</persist>\n<powershell>Get-Date":               {{"powershell", "Get-Date", 2}},
		"version: 1.1\ntasks:\n- task: executeScript\n  inputs:\n  - frequency: once\n    type: powershell\n    content: |-\n      Get-Date\n      ver\n  - type: batch\n    content: ver": {
			{"powershell", "Get-Date\nver", 8}, {"cmd", "ver", 11}},
		"version: 1.0\nconfig:\n- stage: boot\n  tasks:\n  - task: executeProgram\n    inputs:\n    - path: 'C:\\a b.exe'\n      arguments: ['/x', y]": {{"cmd", `"C:\a b.exe" /x y`, 7}},
		"tasks:\n- task: setAdminAccount\n  inputs:\n    password:\n      type: static\n      data: Pa55":                                              {{"cmd", "net user Administrator Pa55", 6}},
		"tasks:\n- task: setAdminAccount\n  inputs:\n    password:\n      type: random":                                                                nil,
		"tasks:\n- task: sysprep\n- task: enableOpenSsh":                                                                                               {{"cmd", "ec2launch sysprep", 2}, {"powershell", "Add-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0", 3}},
		"tasks:\n- task: startSsm":                   nil,
		"tasks: [a\n  task: b":                       nil,
		"tasks: 1 # task:":                           nil,
		"tasks:\n- task: executeScript\n  inputs: 1": nil,
		"Get-Date": nil,
	} {
		have := Parts(text)
		if len(have) != len(wants) {
			t.Errorf("%q: have %+v", text, have)
			continue
		}
		for i, w := range wants {
			p := have[i]
			before, _, _ := strings.Cut(p.Text, w.text)
			if p.Language != w.language || strings.TrimSpace(p.Text) != w.text || 1+strings.Count(before, "\n") != w.line {
				t.Errorf("%q: want %+v, have %+v", text, w, p)
			}
		}
	}
}
