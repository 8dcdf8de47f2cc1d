package lint

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

// writeFiles is a folder with these files.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// setup is an answer file with a pass more and an account that logs on.
func setup(extra string) string {
	return `<unattend xmlns="urn:schemas-microsoft-com:unattend">` + extra + `<settings pass="oobeSystem">
<component name="Microsoft-Windows-Shell-Setup" processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS">
<UserAccounts><AdministratorPassword><Value>${password}</Value></AdministratorPassword></UserAccounts>
<AutoLogon><Enabled>true</Enabled><Username>Administrator</Username></AutoLogon>
</component></settings></unattend>`
}

const generalizePass = `<settings pass="generalize"><component name="Microsoft-Windows-Security-SPP" processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS"><SkipRearm>1</SkipRearm></component></settings>`

// fromCD is a source that has an answer file on its CD.
func fromCD(more, answerFile string) string {
	return "source \"vsphere-iso\" \"w\" {\n" + more + "\n  cd_files = [\"" + answerFile + "\"]\n}\n"
}

// theirs is somebody's template, and what is found in it.
type theirs struct {
	files    map[string]string
	id       string
	object   string           // "" for any
	severity finding.Severity // Pass: nothing worse of this rule and object
}

func judge(t *testing.T, cases map[string]theirs) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, c.files)
			if c.files["t/w.pkr.hcl"] != "" {
				t.Chdir(dir) // a relative path, and .. in what it is joined with
				dir = "t"
			}
			worst, which := finding.Pass, ""
			for _, f := range check(t, dir, Options{}) {
				if f.ID == c.id && (c.object == "" || f.Object == c.object) && f.Severity > worst {
					worst, which = f.Severity, f.Object+": "+f.Observed
				}
			}
			if worst != c.severity {
				t.Errorf("%s of %s is %s (%s), want %s", c.id, c.object, worst, which, c.severity)
			}
		})
	}
}

// provisioned is a build with a provisioner of PowerShell.
func provisioned(body string) string {
	return "build {\n  provisioner \"powershell\" {\n" + body + "\n  }\n}\n"
}

// TestForeign: what other people's templates have and ours don't, each seen
// for what it is.
func TestForeign(t *testing.T) {
	qemu := func(args string) string {
		return "source \"qemu\" \"w\" {\n  disk_interface = \"ide\"\n  qemuargs = " + args + "\n  cd_files = [\"a/autounattend.xml\"]\n}\nvariable \"args\" {}\n"
	}
	efi := `<unattend xmlns="urn:schemas-microsoft-com:unattend"><settings pass="windowsPE"><component name="Microsoft-Windows-Setup" processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS"><DiskConfiguration><Disk><CreatePartitions><CreatePartition><Type>EFI</Type></CreatePartition></CreatePartitions></Disk></DiskConfiguration></component></settings></unattend>`
	fetches := func(script string, want finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"azure-arm\" \"w\" {\n}\nbuild {\n  provisioner \"powershell\" {\n    script = \"a.ps1\"\n  }\n}\n", "a.ps1": script}, "template.download", "a.ps1", want}
	}
	judge(t, map[string]theirs{
		"autounattend.xml may log on, whatever passes it has": {map[string]string{"w.pkr.hcl": fromCD("", "a/autounattend.xml"), "a/autounattend.xml": setup(generalizePass)},
			"template.answer", "a/autounattend.xml", finding.Pass},
		"but not if sysprep is given it": {map[string]string{"w.pkr.hcl": fromCD(`shutdown_command = "sysprep.exe /generalize /oobe /unattend:C:/a/autounattend.xml"`, "a/autounattend.xml"), "a/autounattend.xml": setup("")},
			"template.answer", "a/autounattend.xml", finding.Block},
		"an answer file of another name is sysprep's by its pass": {map[string]string{"w.pkr.hcl": fromCD("", "a/unattend.xml"), "a/unattend.xml": setup(generalizePass)},
			"template.answer", "a/unattend.xml", finding.Block},
		"another template's answer file isn't this one's": {map[string]string{"w.pkr.hcl": fromCD("", "one/autounattend.xml"), "one/autounattend.xml": setup(""), "two/autounattend.xml": strings.ReplaceAll(setup(""), "${password}", "Pa55")},
			"template.answer", "two/autounattend.xml", finding.Pass},
		"nor where both are copied first": {map[string]string{"w.pkr.hcl": fromCD("", "tmp/one-vsphere/autounattend.xml"), "one/autounattend.xml": setup(""), "two/autounattend.xml": strings.ReplaceAll(setup(""), "${password}", "Pa55")},
			"template.answer", "two/autounattend.xml", finding.Pass},
		"and the right one is looked at": {map[string]string{"w.pkr.hcl": fromCD("", "tmp/one-vsphere/autounattend.xml"), "one/autounattend.xml": strings.ReplaceAll(setup(""), "${password}", "Pa55"), "two/autounattend.xml": setup("")},
			"template.answer", "one/autounattend.xml", finding.Block},
		"EFI by QEMU's own arguments":            {map[string]string{"w.pkr.hcl": qemu(`[["-bios", "/usr/share/ovmf/OVMF.fd"]]`), "a/autounattend.xml": efi}, "template.firmware", "qemu.w", finding.Pass},
		"BIOS by QEMU's own arguments":           {map[string]string{"w.pkr.hcl": qemu(`[["-machine", "q35"]]`), "a/autounattend.xml": efi}, "template.firmware", "qemu.w", finding.Block},
		"QEMU's own arguments that aren't known": {map[string]string{"w.pkr.hcl": qemu(`var.args`), "a/autounattend.xml": efi}, "template.firmware", "qemu.w", finding.Unknown},
		"an empty default stands for a value":    {map[string]string{"w.pkr.hcl": fromCD("guest_os_type = var.id", "a") + "variable \"id\" {\n  default = \"\"\n}\n"}, "template.guest-id", "vsphere-iso.w", finding.Unknown},
		"steps may be in an unread answer file":  {map[string]string{"w.pkr.hcl": fromCD("", "${var.file}") + "variable \"file\" {}\n"}, "template.checklist", "openssh", finding.Unknown},
		"a build number for show is no check":    {map[string]string{"w.pkr.hcl": fromCD("", "a/autounattend.xml") + provisioned("script = \"show.ps1\""), "a/autounattend.xml": setup(""), "show.ps1": "$k.CurrentBuildNumber"}, "template.checklist", "os-build", finding.Warn},
		"a file that is fetched":                 fetches("Invoke-WebRequest -Uri 'https://example.com/tools.conf' -OutFile 'C:\\tools.conf'", finding.Warn),
		"a file that is fetched and compared":    fetches("Invoke-WebRequest https://example.com/a.zip -OutFile a.zip\nif ((Get-FileHash a.zip).Hash -ne $want) { throw 'another' }", finding.Pass),
		"a module, the newest":                   fetches("Install-Module -Name PSWindowsUpdate -Force", finding.Warn),
		"a module, by version":                   fetches("Install-Module -Name PSWindowsUpdate -RequiredVersion 2.2.1.5 -Force", finding.Pass),
		"the cloud's own metadata":               fetches("Invoke-RestMethod -Uri 'http://169.254.169.254/latest'", finding.Pass),
		"Packer's own server":                    fetches("(New-Object Net.WebClient).DownloadFile(\"http://$env:PACKER_HTTP_ADDR/a\", 'a')", finding.Pass),
		"a result that is compared": {map[string]string{"w.pkr.hcl": "source \"azure-arm\" \"w\" {\n}\n" + provisioned("script = \"u.ps1\""),
			"u.ps1": "$s = New-Object -ComObject Microsoft.Update.Session\n$r = $s.CreateUpdateInstaller().Install()\nif ($r.ResultCode -ne 2) { throw 'updates' }"}, "template.updates", "", finding.Pass},
		"a task that is asked": {map[string]string{"w.pkr.hcl": "source \"azure-arm\" \"w\" {\n}\n" + provisioned("script = \"u.ps1\""),
			"u.ps1": "Register-ScheduledTask -TaskName u -Action (New-ScheduledTaskAction -Execute powershell.exe -Argument '-Command Install-WindowsUpdate -AcceptAll')\nif ((Get-ScheduledTaskInfo u).LastTaskResult) { throw 'updates' }"}, "template.updates", "", finding.Pass},
		"a URL that nothing fetches":              fetches("Write-Output 'see https://example.com'", finding.Pass),
		"a script in a folder beside is readable": {map[string]string{"t/w.pkr.hcl": "source \"amazon-ebs\" \"w\" {\n}\nbuild {\n  provisioner \"powershell\" {\n    script = \"${path.root}/../s/prepare.ps1\"\n  }\n}\n", "s/prepare.ps1": "sysprep /generalize /oobe"}, "template.sysprep", "sysprep", finding.Pass},
	})
}

// A letter that an answer file uses ten times is one finding with ten places.
func TestLettersAreSaidOnce(t *testing.T) {
	path := "<Path>E:\\a.cmd</Path>\n<Path>E:\\b.cmd</Path>"
	dir := writeFiles(t, map[string]string{"w.pkr.hcl": fromCD("", "autounattend.xml"), "autounattend.xml": `<unattend xmlns="urn:schemas-microsoft-com:unattend"><settings pass="specialize"><component name="Microsoft-Windows-Deployment" processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS">` + path + `</component></settings></unattend>`})
	found := slices.DeleteFunc(check(t, dir, Options{}), func(f finding.Finding) bool { return f.ID != "template.letter" })
	if len(found) != 1 || len(found[0].Evidence) != 2 {
		t.Errorf("have %+v", found)
	}
}

// TestNothingIsBuilt: HCL that only names plugins, for templates in JSON, isn't
// a template without sysprep. What packer hcl2_upgrade can't read isn't sent there.
func TestNothingIsBuilt(t *testing.T) {
	const plugins, upgrade, other = "packer {\n  required_plugins {\n  }\n}\n", "hcl2_upgrade", "bake template"
	for name, c := range map[string]struct {
		files     map[string]string
		what, fix string
	}{
		"beside an old template":     {map[string]string{"config.pkr.hcl": plugins, "packer.json": `{"_comment": "x", "builders": []}`}, "templates in the JSON from before HCL aren't read", upgrade},
		"an old template":            {map[string]string{"packer.json": `{"variables": {}, "builders": [], "post-processors": []}`}, "templates in the JSON from before HCL aren't read", upgrade},
		"plugins":                    {map[string]string{"config.pkr.hcl": plugins}, "has a source or a build", other},
		"plugins in JSON":            {map[string]string{"config.pkr.json": `{"packer": {"required_plugins": {}}}`}, "has a source or a build", other},
		"JSON that is no template":   {map[string]string{"package.json": `{"name": "x", "scripts": {}}`}, "there is no .pkr.hcl file", other},
		"a var-file":                 {map[string]string{"x.auto.pkrvars.json": `{"a": 1}`}, "there is no .pkr.hcl file", other},
		"JSON of something, broken":  {map[string]string{"x.json": `{`}, "there is no .pkr.hcl file", other},
		"HCL in JSON beside plugins": {map[string]string{"a.pkr.json": `{"variable": {"a": {}}}`, "x.json": "[]"}, "has a source or a build", other},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Check(t.Context(), writeFiles(t, c.files), Options{})
			if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.What, c.what) || !strings.Contains(f.Fix, c.fix) {
				t.Errorf("want %q and %q, have %v", c.what, c.fix, err)
			}
		})
	}
	dir := writeFiles(t, map[string]string{"packer.json": `{"builders": []}`})
	if _, err := Check(t.Context(), filepath.Join(dir, "packer.json"), Options{}); err == nil || !strings.Contains(err.Error(), upgrade) {
		t.Errorf("a template in JSON by its name: %v", err)
	}
}
