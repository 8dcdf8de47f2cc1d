package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/packer/template"
)

// TestISO: which ISO Windows comes from, and who says so.
func TestISO(t *testing.T) {
	const sum = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	const tools = `"[] /vmimages/tools-isoimages/windows.iso"`
	with := func(body, more string, severity finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"vsphere-iso\" \"w\" {\n" + body + "\n}\n" + more}, "template.iso", "vsphere-iso.w", severity}
	}
	const open = "variable \"iso_url\" {\n  default = \"\"\n}\nvariable \"iso_checksum\" {\n  default = \"\"\n}\nvariable \"iso_path\" {\n  default = null\n}\n"
	judge(t, map[string]theirs{
		"both are empty":              with("iso_url = var.iso_url\niso_checksum = var.iso_checksum", open, finding.Unknown),
		"a list of what is empty":     with("iso_urls = [var.iso_url]\niso_checksum = var.iso_checksum", open, finding.Unknown),
		"the sum is empty":            with("iso_url = \"https://example.com/a.iso\"\niso_checksum = var.iso_checksum", open, finding.Unknown),
		"the sum is empty, as it is":  with("iso_url = \"https://example.com/a.iso\"\niso_checksum = \"\"", open, finding.Block),
		"the path is null":            with("iso_paths = compact([var.iso_path == null ? \"\" : var.iso_path])", open, finding.Unknown),
		"tools alone":                 with("iso_paths = ["+tools+"]", "", finding.Block),
		"tools from a datastore":      with(`iso_paths = ["[ds] iso/VMware-tools-windows-12.4.5-23787635.iso"]`, "", finding.Block),
		"tools from Workstation":      with(`iso_paths = ["[] /usr/lib/vmware/isoimages/windows.iso"]`, "", finding.Block),
		"old tools":                   with(`iso_paths = ["[] /usr/lib/vmware/isoimages/winPreVista.iso"]`, "", finding.Block),
		"Windows in isoimages":        with(`iso_paths = ["[nfs] isoimages/SERVER_EVAL_2022.iso"]`, "", finding.Info),
		"Windows below isoimages":     with(`iso_paths = ["[nfs] a/isoimages/windows_2022.iso"]`, "", finding.Info),
		"tools by a variable":         with("iso_paths = [var.tools]", "variable \"tools\" {\n  default = "+tools+"\n}\n", finding.Block),
		"tools, and a path to give":   with("iso_paths = var.iso_path == null ? ["+tools+"] : [var.iso_path, "+tools+"]", open, finding.Unknown),
		"tools, and a URL to give":    with("iso_paths = ["+tools+"]\niso_url = var.iso_url", open, finding.Unknown),
		"tools, and a URL":            with("iso_paths = ["+tools+"]\niso_url = \"https://example.com/a.iso\"\niso_checksum = \""+sum+"\"", "", finding.Pass),
		"tools and Windows":           with("iso_paths = [\"[ds] windows.iso\", "+tools+"]", "", finding.Info),
		"a path that has to be given": with("iso_paths = [var.a, "+tools+"]", "variable \"a\" {}\n", finding.Info),
		"the template demands a path": with("iso_paths = [var.iso_path]", open+"locals {\n  given = var.iso_path != null ? true : file(\"no ISO\")\n}\n", finding.Pass),
		"its rule demands a URL": with("iso_url = var.a\niso_checksum = \""+sum+"\"", "variable \"a\" {\n  default = \"\"\n  validation {\n    condition = var.a != \"\"\n    error_message = \"A URL.\"\n  }\n}\n",
			finding.Pass),
		"an index that is empty":               with("iso_url = var[\"iso_url\"]", open, finding.Unknown),
		"an index that has to be given":        with("iso_url = var[\"a\"]", "variable \"a\" {\n  default = \"\"\n  validation {\n    condition = var.a != \"\"\n    error_message = \"A URL.\"\n  }\n}\n", finding.Pass),
		"all variables, of which there's none": with("iso_paths = values(var)", "", finding.Pass),
		"a local that fails otherwise":         with("iso_url = var.iso_url", open+"locals {\n  a = pathexpand(var.iso_url)\n}\n", finding.Unknown),
	})
}

// TestOwnISO: our own template has an ISO where one is given, and demands one
// where none is.
func TestOwnISO(t *testing.T) {
	dir := written(t, template.Options{Platform: "vsphere-iso"})
	for text, want := range map[string]finding.Severity{
		"":                              finding.Pass,
		`iso_path = "[ds] windows.iso"`: finding.Info,
		`iso_url = "https://example.com/a.iso"` + "\n" + `iso_checksum = "sha256:` + strings.Repeat("a", 64) + `"`: finding.Pass,
		`iso_url = "https://example.com/a.iso"`: finding.Unknown,
	} {
		values := filepath.Join(t.TempDir(), "v.pkrvars.hcl")
		if err := os.WriteFile(values, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, f := range check(t, dir, Options{VarFiles: []string{values}}) {
			if f.ID == "template.iso" && f.Severity != want {
				t.Errorf("%q: %+v, want %s", text, f, want)
			}
		}
	}
}

// TestWinRMOfBuild: what Packer says over WinRM is encrypted.
func TestWinRMOfBuild(t *testing.T) {
	with := func(body string, severity finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"azure-arm\" \"w\" {\n" + body + "\n}\nvariable \"a\" {}\n"}, "template.reach", "azure-arm.w", severity}
	}
	judge(t, map[string]theirs{
		"nothing said":           with(`communicator = "winrm"`, finding.Warn),
		"no encryption":          with("communicator = \"winrm\"\nwinrm_use_ssl = false", finding.Warn),
		"HTTPS":                  with("communicator = \"winrm\"\nwinrm_use_ssl = true", finding.Pass),
		"NTLM encrypts":          with("communicator = \"winrm\"\nwinrm_use_ntlm = true", finding.Pass),
		"given at build time":    with("communicator = \"winrm\"\nwinrm_use_ssl = var.a", finding.Pass),
		"SSH has nothing of it":  with("communicator = \"ssh\"\nssh_file_transfer_method = \"sftp\"\nwinrm_use_ssl = false", finding.Pass),
		"a communicator to give": with("communicator = var.a\nwinrm_use_ssl = false", finding.Pass),
	})
}

// TestWordsForFirmware: a machine that starts by BIOS is told nothing of EFI's
// partitions, and the place of a fault is told.
func TestWordsForFirmware(t *testing.T) {
	const head = ` processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS">`
	file := func(kind string) string {
		return "<unattend xmlns=\"urn:schemas-microsoft-com:unattend\"><settings pass=\"windowsPE\"><component name=\"Microsoft-Windows-Setup\"" + head +
			"<DiskConfiguration><Disk>\n<WillWipeDisk>false</WillWipeDisk><CreatePartitions><CreatePartition><Type>" + kind + "</Type><Size>500</Size></CreatePartition></CreatePartitions></Disk></DiskConfiguration></component></settings></unattend>"
	}
	for firmware, c := range map[string]struct{ kind, remedy string }{"bios": {"Primary", "an active system partition"}, "efi": {"EFI", "EFI (FAT32"}} {
		dir := writeFiles(t, map[string]string{"w.pkr.hcl": fromCD("firmware = \""+firmware+"\"", "autounattend.xml"), "autounattend.xml": file(c.kind)})
		told := false
		for _, f := range check(t, dir, Options{}) {
			if firmware == "bios" && f.ID == "template.answer" && strings.Contains(f.Why+f.Remedy, "EFI") {
				t.Errorf("a machine with BIOS is told %+v", f)
			}
			if strings.HasPrefix(f.Observed, "WillWipeDisk") {
				told = true
				if !strings.HasPrefix(f.Remedy, c.remedy) || !slices.Equal(f.Evidence, []string{"autounattend.xml:2"}) {
					t.Errorf("%s: %+v", firmware, f)
				}
			}
		}
		if !told {
			t.Errorf("%s: the disk isn't judged", firmware)
		}
	}
}
