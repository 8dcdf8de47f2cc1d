package lint

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// jsonTemplate has in JSON what the rules look for in HCL.
const jsonTemplate = `{
  "//": "sysprep",
  "packer": {"required_plugins": {"vsphere": {"source": "github.com/hashicorp/vsphere", "version": ">= 1.4.2"}}},
  "variable": {
    "winrm_password": {"type": "string", "sensitive": true, "default": "hunter2"},
    "guest": {"type": "string", "default": "windowsBogus", "description": "10250"},
    "sum": {"validation": {"condition": "${length(var.sum) > 0}", "error_message": "A sum."}}
  },
  "locals": {"steps": ["b # ssh-agent", "${var.step} rename-computer"]},
  "source": {"vsphere-iso": {"base": {
    "winrm_password": "${var.winrm_password}",
    "guest_os_type": "${var.guest}",
    "iso_url": "https://example.com/a.iso",
    "iso_checksum": "${var.sum}",
    "customize": {"windows_options": {"admin_password": "hunter2"}},
    "additional_iso_files": [{"iso_url": "https://example.com/b.iso", "iso_checksum": "none"}],
    "cd_files": ["${path.root}/autounattend.xml"]
  }}},
  "build": {
    "source": {"vsphere-iso.base": {"name": "made", "vTPM": true}},
    "provisioner": [
      {"powershell": {"inline": "${local.steps}"}},
      {"powershell": {"scripts": ["a.ps1"], "environment_vars": ["ADMIN_PASSWORD=hunter2"]}}
    ]
  }
}
`

func TestJSON(t *testing.T) {
	dir := writeFiles(t, map[string]string{"w.pkr.json": jsonTemplate, "autounattend.xml": setup(""), "a.ps1": "Start-Service sshd # 9182\nNew-NetFirewallRule -LocalPort 10250"})
	r, err := Check(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Sources, []string{"vsphere-iso.made"}) {
		t.Errorf("sources %v", r.Sources)
	}
	line := func(text string) int {
		return lineAt([]byte(jsonTemplate), strings.Index(jsonTemplate, text))
	}
	for where, want := range map[[2]string]finding.Finding{
		{"template.plugin", "vsphere"}:                                    {Severity: finding.Warn, Evidence: at("w.pkr.json", line(`"vsphere"`))},
		{"template.guest-id", "vsphere-iso.made"}:                         {Severity: finding.Block, Evidence: at("w.pkr.json", line(`"guest_os_type"`))},
		{"template.firmware", "vsphere-iso.made"}:                         {Severity: finding.Block, Evidence: at("w.pkr.json", line(`"name"`))},
		{"template.iso", "vsphere-iso.made"}:                              {Severity: finding.Pass},
		{"template.iso", "vsphere-iso.made.additional_iso_files"}:         {Severity: finding.Block, Evidence: at("w.pkr.json", line("b.iso"))},
		{"template.secret", "var.winrm_password"}:                         {Severity: finding.Block, Evidence: at("w.pkr.json", line(`"default": "hunter2"`))},
		{"template.secret", "vsphere-iso.made.customize.admin_password"}:  {Severity: finding.Block, Evidence: at("w.pkr.json", line(`"customize"`))},
		{"template.secret", "powershell.environment_vars.ADMIN_PASSWORD"}: {Severity: finding.Block, Evidence: at("w.pkr.json", line("ADMIN_PASSWORD"))},
		{"template.checklist", "port-10250"}:                              {Severity: finding.Pass},
		{"template.checklist", "host-name"}:                               {Severity: finding.Warn, Evidence: at("w.pkr.json:"+strconv.Itoa(line(`"inline"`))+" inline.ps1", 2)},
		{"template.checklist", "ssh-agent"}:                               {Severity: finding.Warn},
		{"template.checklist", "port-9182"}:                               {Severity: finding.Warn},
		{"template.sysprep", "sysprep"}:                                   {Severity: finding.Block},
	} {
		i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.ID == where[0] && f.Object == where[1] })
		if i < 0 {
			t.Errorf("nothing of %v", where)
		} else if f := r.Findings[i]; f.Severity != want.Severity || !slices.Equal(f.Evidence, want.Evidence) {
			t.Errorf("%v is %s at %v, want %s at %v", where, f.Severity, f.Evidence, want.Severity, want.Evidence)
		}
	}
	one, err := Check(t.Context(), filepath.Join(dir, "w.pkr.json"), Options{})
	if err != nil || len(one.Findings) != len(r.Findings) {
		t.Errorf("by its name it has %d findings, not %d: %v", len(one.Findings), len(r.Findings), err)
	}
}

func TestBrokenJSON(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON":          "{\n\"source\": ",
		"a block's label":   "{\n\"source\": {\"qemu\": 1}}",
		"a template's text": "{\"build\": {}, \"locals\": {\n\"a\": \"${\"}}",
		"one in a list":     "{\"locals\": {\"a\": [\n\"${\"]}}",
		"one in an object":  "{\"locals\": {\"a\": {\"b\":\n\"${\"}}}",
		"no object":         "\n1",
	} {
		found := check(t, writeFiles(t, map[string]string{"w.pkr.json": text}), Options{})
		i := slices.IndexFunc(found, func(f finding.Finding) bool { return f.ID == "template.hcl" })
		if i < 0 || found[i].Severity != finding.Block || !slices.Equal(found[i].Evidence, at("w.pkr.json", 2)) {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
