package lint_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/lint"
	"github.com/winbake/winbake/packer/template"
)

// write is a template of ours in a folder.
func write(t *testing.T, platform, profile string) string {
	t.Helper()
	folder, err := template.Render(template.Options{Platform: platform, Windows: template.Windows2022, Profile: template.Profile(profile)})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), platform)
	if err := template.Write(t.Context(), dir, folder); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestOurTemplates: nothing is found in what bake template writes, and nothing isn't
// known of it.
func TestOurTemplates(t *testing.T) {
	for _, p := range template.PlatformNames() {
		for _, profile := range lint.Profiles() {
			r, err := lint.Check(write(t, p, profile), lint.Options{Profile: profile})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range r.Findings {
				if f.Severity != finding.Pass {
					t.Errorf("%s: %+v", p, f)
				}
			}
		}
	}
}

// TestFaults: what is put into a template of ours is found, and found once.
func TestFaults(t *testing.T) {
	const image, variables, answer, sealed = "image.pkr.hcl", "variables.pkr.hcl", "answers/autounattend.xml.pkrtpl", "answers/unattend.xml.pkrtpl"
	for name, c := range map[string]struct{ file, old, new, id string }{
		"a quote that isn't there":        {image, `vm_name = local.image`, `vm_name = "local.image`, "template.hcl"},
		"no version of the plugin":        {"versions.pkr.hcl", `>= 1.4.2, < 2.0.0`, `>= 1.4.2`, "template.plugin"},
		"another guest id":                {image, `"windows2019srvNext_64Guest"`, `"windows2022_64Guest"`, "template.guest-id"},
		"hardware version 15":             {image, `= var.hardware_version`, `= 15`, "template.guest-id"},
		"BIOS":                            {"variables-rare.pkr.hcl", `"efi-secure"`, `"bios"`, "template.firmware"},
		"the CD first":                    {image, `"disk,cdrom"`, `"cdrom,disk"`, "template.boot"},
		"CDs that stay":                   {image, `remove_cdrom = true`, `remove_cdrom = false`, "template.boot"},
		"scp":                             {image, `ssh_file_transfer_method = "sftp"`, ``, "template.reach"},
		"a shutdown in a minute":          {image, `shutdown_timeout = "30m"`, `shutdown_timeout = "1m"`, "template.timeout"},
		"a restart in a minute":           {image, `restart_timeout       = "30m"`, `restart_timeout = "1m"`, "template.timeout"},
		"a password with a default":       {variables, `variable "admin_password" {`, "variable \"admin_password\" {\n  default = \"Winter-2026\"", "template.secret"},
		"a password":                      {image, `ssh_password = var.admin_password`, `ssh_password = "Winter-2026"`, "template.secret"},
		"a script that isn't there":       {image, `scripts/seal.ps1`, `scripts/sealed.ps1`, "template.script"},
		"an answer file that isn't there": {image, `answers/unattend.xml.pkrtpl`, `answers/other.xml.pkrtpl`, "template.script"},
		"no XML":                          {answer, `</unattend>`, ``, "template.answer"},
		"no licence accepted":             {answer, `<AcceptEula>true`, `<AcceptEula>false`, "template.answer"},
		"Windows onto MSR":                {answer, `<PartitionID>3</PartitionID>%{ else`, `<PartitionID>2</PartitionID>%{ else`, "template.answer"},
		"an EFI partition with NTFS":      {answer, `<Format>FAT32`, `<Format>NTFS`, "template.answer"},
		"a disk that isn't wiped":         {answer, `<WillWipeDisk>true`, `<WillWipeDisk>false`, "template.answer"},
		"another edition":                 {variables, `Windows Server 2022 SERVERSTANDARDCORE`, `Windows Server 2025 SERVERSTANDARDCORE`, "template.answer"},
		"logged on by itself":             {sealed, `<Enabled>false`, `<Enabled>true`, "template.answer"},
		"a password in the answer file":   {sealed, `${password}`, `Winter-2026`, "template.answer"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, "vsphere-iso", "openshift")
			path := filepath.Join(dir, c.file)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), c.old, c.new, 1)
			if changed == string(text) {
				t.Fatalf("no %q in %s", c.old, c.file)
			}
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := lint.Check(dir, lint.Options{})
			if err != nil {
				t.Fatal(err)
			}
			found := 0
			for _, f := range r.Findings {
				if f.Severity == finding.Pass {
					continue
				}
				if found++; f.ID != c.id || found > 1 {
					t.Errorf("%s %s: %s", f.ID, f.Object, f.Observed)
				}
			}
			if found == 0 {
				t.Error("it isn't found")
			}
		})
	}
}
