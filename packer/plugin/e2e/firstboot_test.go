//go:build e2e

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/packer/plugin/e2e/vcenter"
)

// TestFirstBootCheck: an image whose clones check themselves has what they need
// for it, and that does its work on the machine.
func TestFirstBootCheck(t *testing.T) {
	t.Parallel()
	b, _ := templated(t, "vsphere-clone", "--first-boot-check")
	b.must()
	want := slices.Insert(slices.Clone(scripts), slices.Index(scripts, "node-settings"), "first-boot-check")
	if ran := b.ran(); !slices.Equal(ran, want) {
		t.Errorf("the scripts ran as %v, want %v", ran, want)
	}
	if env := b.environment(slices.Index(want, "first-boot-check")); !strings.Contains(env, "WIN004") {
		t.Errorf("what the build accepts isn't told to the task:\n%s", env)
	}
	for _, args := range [][]string{ // as Windows Setup has it at its end
		{"reg", "add", `HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Setup\State`, "/v", "ImageState", "/d", "IMAGE_STATE_COMPLETE", "/f"},
		{"reg", "add", `HKLM\SYSTEM\Setup`, "/v", "SystemSetupInProgress", "/t", "REG_DWORD", "/d", "0", "/f"},
	} {
		if out, err := b.node.Wine(t.Context(), args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	check := []string{`C:\ProgramData\winbake\verify.exe`, "node", "--first-boot", "--wait", "3m", "--expect", `C:\ProgramData\winbake\node.json`}
	var accept []string
	if err := json.Unmarshal([]byte(vcenter.Accept()), &accept); err != nil {
		t.Fatal(err)
	}
	for _, id := range accept {
		check = append(check, "--accept", id)
	}
	out, err := b.node.Wine(t.Context(), check...)
	var result struct{ Outcome, Host string }
	if text := b.onNode(`C:\ProgramData\winbake\first-boot.json`); err != nil || json.Unmarshal(text, &result) != nil || result.Outcome != "INFO" {
		t.Errorf("%v\n%s\n%s", err, out, text)
	}
}
