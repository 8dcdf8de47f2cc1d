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
	"github.com/winbake/winbake/packer/template"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// written is a template of ours in a folder of its own.
func written(t *testing.T, o template.Options) string {
	t.Helper()
	if !o.WithoutPayload && o.Payload == (template.Payload{}) {
		o.Payload = template.Payload{Reference: "quay.io/example/payload@" + digest, Digest: digest}
	}
	f, err := template.Render(o)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "image")
	if err := template.Write(t.Context(), dir, f); err != nil {
		t.Fatal(err)
	}
	return dir
}

func check(t *testing.T, dir string, o Options) []finding.Finding {
	t.Helper()
	r, err := Check(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

// Our own templates have nothing to say but what an ISO in a datastore and an
// image without node files are.
func TestOwnTemplates(t *testing.T) {
	for _, p := range template.Platforms() {
		for _, profile := range template.Profiles() {
			for _, w := range template.Releases() {
				dir := written(t, template.Options{Platform: p.Name, Profile: profile, Windows: w})
				r, err := Check(t.Context(), dir, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if r.Profile != string(profile) || len(r.Sources) != 1 {
					t.Errorf("%s: profile %s, sources %v", p.Name, r.Profile, r.Sources)
				}
				for _, f := range r.Findings {
					if f.Severity > finding.Info {
						t.Errorf("%s %s %s: %+v", p.Name, profile, w, f)
					}
				}
			}
		}
	}
	for _, f := range check(t, written(t, template.Options{Platform: "vsphere-iso", WithoutPayload: true}), Options{}) {
		if f.Severity > finding.Info {
			t.Errorf("without node files: %+v", f)
		}
	}
}

// change is one edit of a good template. An empty old text appends.
type change struct{ file, old, new string }

// TestOneFault makes one mistake each in a template without any, and wants
// that finding and no other one.
func TestOneFault(t *testing.T) {
	const image, vars, versions = "image.pkr.hcl", "variables.pkr.hcl", "versions.pkr.hcl"
	const build, left = "answers/autounattend.xml.pkrtpl", "answers/unattend.xml.pkrtpl"
	for name, c := range map[string]struct {
		platform string
		change   change
		id       string
		severity finding.Severity
		object   string
		observed string
	}{
		"broken HCL":         {"", change{image, "", "\nx {"}, "template.hcl", finding.Block, image, ""},
		"no plugin":          {"", change{versions, "vsphere = {", "other = {"}, "template.plugin", finding.Warn, "vsphere-iso.windows", "no required_plugins entry"},
		"open range":         {"", change{versions, ">= 1.4.2, < 2.0.0", ">= 1.4.2"}, "template.plugin", finding.Warn, "vsphere", `">= 1.4.2"`},
		"no range":           {"", change{versions, `version = ">= 1.4.2, < 2.0.0"`, ""}, "template.plugin", finding.Warn, "vsphere", "none"},
		"no source":          {"", change{versions, `source  = "github.com/hashicorp/vsphere"`, ""}, "template.plugin", finding.Warn, "vsphere", "no source"},
		"unknown guest id":   {"", change{image, "windows2019srvNext_64Guest", "windows2022_64Guest"}, "template.guest-id", finding.Block, "vsphere-iso.windows", "windows2022_64Guest"},
		"Server 2016":        {"", change{image, "windows2019srvNext_64Guest", "windows9Server64Guest"}, "template.guest-id", finding.Warn, "vsphere-iso.windows", "Windows Server 2016"},
		"no guest id":        {"", change{image, `guest_os_type        = "windows2019srvNext_64Guest"`, ""}, "template.guest-id", finding.Block, "vsphere-iso.windows", "otherGuest"},
		"guest id untold":    {"", change{image, `"windows2019srvNext_64Guest"`, "var.vcenter_server"}, "template.guest-id", finding.Unknown, "vsphere-iso.windows", "at build time"},
		"TPM without EFI":    {"", change{image, "= var.firmware\n  vTPM                 = var.vtpm", "= \"bios\"\n  vTPM = true"}, "template.firmware", finding.Block, "vsphere-iso.windows", "a TPM without EFI"},
		"BIOS":               {"", change{image, "= var.firmware\n", "= \"bios\"\n"}, "template.firmware", finding.Warn, "vsphere-iso.windows", "no secure boot"},
		"firmware untold":    {"", change{image, "= var.firmware\n", "= var.vcenter_server\n"}, "template.firmware", finding.Unknown, "vsphere-iso.windows", "at build time"},
		"ISO without a sum":  {"qemu", change{image, "= var.iso_checksum", `= "none"`}, "template.iso", finding.Block, "qemu.windows", `"none"`},
		"ISO with MD5":       {"qemu", change{image, "= var.iso_checksum", `= "md5:0123456789abcdef0123456789abcdef"`}, "template.iso", finding.Warn, "qemu.windows", "md5"},
		"ISO sum untold":     {"qemu", change{vars, "iso_checksum\" {\n  type        = string\n", "iso_checksum\" {\n  type = string\n}\nvariable \"unused\" {\n"}, "template.iso", finding.Unknown, "qemu.windows", "nothing demands one"},
		"the CD first":       {"", change{image, `boot_order      = "disk,cdrom"`, `boot_order = "cdrom,disk"`}, "template.boot", finding.Warn, "vsphere-iso.windows", "cdrom,disk"},
		"scp":                {"googlecompute", change{image, `ssh_file_transfer_method = "sftp"`, ""}, "template.reach", finding.Warn, "googlecompute.windows", "scp"},
		"any certificate":    {"", change{image, "var.vcenter_insecure", "true"}, "template.reach", finding.Warn, "vsphere-iso.windows", "insecure_connection = true"},
		"default password":   {"", change{vars, "variable \"admin_password\" {\n", "variable \"admin_password\" {\n  default = \"S3cr3t0!\"\n"}, "template.secret", finding.Block, "var.admin_password", "a default"},
		"shown password":     {"", change{vars, "sysprep replaces it.\"\n  sensitive   = true\n", "sysprep replaces it.\"\n"}, "template.secret", finding.Warn, "var.admin_password", "not sensitive"},
		"written password":   {"", change{image, "= var.vcenter_password", `= "hunter2"`}, "template.secret", finding.Block, "vsphere-iso.windows.password", "written into the template"},
		"somebody's key":     {"", change{"scripts/ssh-access.ps1", "", "\n$key = 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC7 ci@example.com'\n"}, "template.key", finding.Block, "scripts/ssh-access.ps1", "ci@example.com"},
		"a private key":      {"", change{"scripts/ssh-access.ps1", "", "\n$key = '-----BEGIN RSA PRIVATE KEY-----'\n"}, "template.key", finding.Block, "scripts/ssh-access.ps1", "a private key"},
		"broken XML":         {"", change{left, "</unattend>", ""}, "template.answer", finding.Block, left, "EOF"},
		"component's pass":   {"", change{build, `pass="oobeSystem"`, `pass="auditSystem"`}, "template.answer", finding.Warn, build, "International-Core in the pass auditSystem"},
		"unknown component":  {"", change{build, "Microsoft-Windows-SQMApi", "Microsoft-Windows-Sqm"}, "template.answer", finding.Unknown, build, "Microsoft-Windows-Sqm"},
		"autologon stays":    {"", change{left, "<Enabled>false", "<Enabled>true"}, "template.answer", finding.Block, left, "AutoLogon is on"},
		"password in XML":    {"", change{left, "${password}", "Pa55"}, "template.answer", finding.Block, left, "is written into the file"},
		"drive letter":       {"", change{"scripts/winbake.ps1", "", "\nInvoke-Program 'E:\\setup64.exe' @('/S')\n"}, "template.letter", finding.Warn, "scripts/winbake.ps1", "drive E:"},
		"letter in XML":      {"", change{build, "<CommandLine>powershell.exe", `<CommandLine>A:\setup.exe`}, "template.letter", finding.Warn, build, "drive A:"},
		"payload by tag":     {"", change{vars, `default     = "` + digest + `"`, `default = "latest"`}, "template.payload", finding.Block, "", "without a digest"},
		"sysprep at the end": {"", change{image, `shutdown_command = "shutdown.exe `, `shutdown_command = "sysprep.exe /generalize /oobe /shutdown `}, "template.sysprep", finding.Warn, "vsphere-iso.windows", "shutdown_command"},
		"nics hidden":        {"", change{"scripts/tools-conf.ps1", "'exclude-nics='", "'exclude-nics=vEthernet*'"}, "template.checklist", finding.Block, "exclude-nics", "set to something"},
		"a runtime":          {"", change{"scripts/features.ps1", "$result = Install", "Install-Package -Name docker -ProviderName DockerMsftProvider -RequiredVersion 20.10.9\n$result = Install"}, "template.checklist", finding.Block, "container-runtime", "installed"},
		"no port":            {"", change{"scripts/firewall.ps1", "10250", "10251"}, "template.checklist", finding.Block, "port-10250", "not there"},
		"no metrics":         {"", change{"scripts/firewall.ps1", "9182", "9183"}, "template.checklist", finding.Warn, "port-9182", "not there"},
		"no feature":         {"", change{"scripts/features.ps1", "-Name 'Containers'", "-Name 'Hyper-V'"}, "template.checklist", finding.Warn, "containers-feature", "not there"},
		"no build floor":     {"", change{image, "windows-version", "ready"}, "template.checklist", finding.Warn, "os-build", "not there"},
	} {
		t.Run(name, func(t *testing.T) {
			platform := c.platform
			if platform == "" {
				platform = "vsphere-iso"
			}
			dir := written(t, template.Options{Platform: platform})
			apply(t, dir, c.change)
			found := slices.DeleteFunc(check(t, dir, Options{}), func(f finding.Finding) bool { return f.Severity <= finding.Info })
			if len(found) == 0 {
				t.Fatal("nothing was found")
			}
			for _, f := range found {
				if f.ID != c.id || f.Severity != c.severity || c.object != "" && f.Object != c.object || !strings.Contains(f.Observed, c.observed) {
					t.Errorf("want %s %s of %s, %q; have %s %s of %s, %q", c.id, c.severity, c.object, c.observed, f.ID, f.Severity, f.Object, f.Observed)
				}
				if f.Why == "" || f.Remedy == "" {
					t.Errorf("no why or remedy: %+v", f)
				}
			}
		})
	}
}

func apply(t *testing.T, dir string, c change) {
	t.Helper()
	name := filepath.Join(dir, c.file)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data) + c.new
	if c.old != "" {
		if !strings.Contains(string(data), c.old) {
			t.Fatalf("%s has no %q", c.file, c.old)
		}
		text = strings.ReplaceAll(string(data), c.old, c.new)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A step that can't be read may do anything: what is missing is unknown then.
func TestOpaqueSteps(t *testing.T) {
	dir := written(t, template.Options{Platform: "vsphere-iso"})
	apply(t, dir, change{"scripts/firewall.ps1", "10250", "1"})
	apply(t, dir, change{"image.pkr.hcl", "build {\n", "build {\n  provisioner \"ansible\" {\n    playbook_file = \"site.yml\"\n  }\n"})
	for _, f := range check(t, dir, Options{}) {
		if f.Object == "port-10250" && (f.Severity != finding.Unknown || !strings.Contains(f.Observed, "ansible")) {
			t.Errorf("have %+v", f)
		}
	}
}

func TestVarFile(t *testing.T) {
	dir := written(t, template.Options{Platform: "vsphere-iso"})
	tpm := func(found []finding.Finding) bool {
		return slices.ContainsFunc(found, func(f finding.Finding) bool { return f.ID == "template.firmware" && f.Severity == finding.Block })
	}
	for name, text := range map[string]string{"v.pkrvars.hcl": "firmware = \"bios\"\nvtpm = true\n", "v.pkrvars.json": `{"firmware": "bios", "vtpm": true}`} {
		values := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(values, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if found := check(t, dir, Options{VarFiles: []string{values}}); !tpm(found) {
			t.Errorf("%s: a TPM without EFI isn't seen: %+v", name, found)
		}
		auto := filepath.Join(dir, strings.Replace(name, "v.", "v.auto.", 1))
		if err := os.WriteFile(auto, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if !tpm(check(t, dir, Options{})) {
			t.Errorf("%s isn't read", auto)
		}
		if err := os.WriteFile(values, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(t.Context(), dir, Options{VarFiles: []string{values}}); err == nil {
			t.Errorf("%s: what can't be read is taken", name)
		}
		if err := os.Remove(auto); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoScript: a link to nothing and a folder are no scripts.
func TestNoScript(t *testing.T) {
	for want, put := range map[string]func(string) error{
		"no such file": func(path string) error { return os.Symlink(filepath.Join(t.TempDir(), "a.ps1"), path) },
		"a folder":     func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := writeFiles(t, map[string]string{"a.pkr.hcl": sourced("azure-arm", "") + provisioned(`script = "${path.root}/a.ps1"`)})
		if err := put(filepath.Join(dir, "a.ps1")); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(check(t, dir, Options{}), func(f finding.Finding) bool {
			return f.ID == ruleScript && f.Object == "a.ps1" && f.Severity == finding.Block && strings.HasPrefix(f.Observed, want)
		}) {
			t.Errorf("%s isn't told", want)
		}
	}
}

// TestNameOnMedium: Windows Setup looks for autounattend.xml, and for no other name.
func TestNameOnMedium(t *testing.T) {
	text := setup(`<settings pass="windowsPE"></settings>`)
	content := func(name string) string {
		return "cd_content = {\n\"" + name + "\" = templatefile(\"${path.root}/a/answer.xml\", { password = var.p })\n}"
	}
	for body, want := range map[string]bool{
		content("unattended.xml"):                           true,
		content("unattend.xml"):                             true,
		content("autounattend.xml"):                         false,
		content("Autounattend.XML"):                         false,
		content("${var.p}.xml"):                             false,
		`floppy_files = ["a/answer.xml"]`:                   true,
		`floppy_files = ["a/autounattend.xml"]`:             false,
		`cd_files = ["a/answer.xml", "a/autounattend.xml"]`: false,
		content("own.xml") + "\nboot_command = [\"setup.exe /unattend:E:/own.xml\"]": false,
		`http_directory = "a"`: false,
	} {
		files := map[string]string{"a.pkr.hcl": sourced("vsphere-iso", body) + "variable \"p\" {}\n" + provisioned(`inline = ["sysprep.exe /generalize /oobe /unattend:C:/b.xml"]`), "a/answer.xml": text, "a/autounattend.xml": text}
		if !strings.Contains(body, "autounattend") {
			delete(files, "a/autounattend.xml")
		}
		found := slices.ContainsFunc(check(t, writeFiles(t, files), Options{}), func(f finding.Finding) bool {
			return f.ID == ruleAnswer && strings.Contains(f.Observed, "onto a medium")
		})
		if found != want {
			t.Errorf("%s: %t", body, found)
		}
	}
}

// TestFilledIn: what templatefile puts into an answer file is held to what its own
// words are held to.
func TestFilledIn(t *testing.T) {
	hcl := func(values string) string {
		return sourced("qemu", "cd_content = {\n\"autounattend.xml\" = templatefile(\"${path.root}/a/unattend.xml.pkrtpl\", "+values+")\n}") +
			"variable \"zone\" {\n  default = \"Europe/Berlin\"\n}\nvariable \"none\" {\n  default = \"\"\n}\nvariable \"given\" {\n}\nlocals {\n  all = { zone = var.zone, password = \"Pa55word1x\" }\n}\n"
	}
	text := strings.Replace(setup(""), "<UserAccounts>", "<TimeZone>${zone}</TimeZone><UserAccounts>", 1)
	for values, want := range map[string]finding.Severity{
		`{ zone = var.zone, password = "x" }`:              finding.Block,
		`local.all`:                                        finding.Block,
		`merge(local.all, { zone = "UTC" })`:               finding.Pass,
		`{ zone = var.none, password = var.given }`:        finding.Pass,
		`{ zone = var.given, password = "Pa55word1x" }`:    finding.Pass,
		`{ zone = "A & B Standard Time", password = "x" }`: finding.Pass,
	} {
		worst := finding.Pass
		for _, f := range check(t, writeFiles(t, map[string]string{"a.pkr.hcl": hcl(values), "a/unattend.xml.pkrtpl": text}), Options{}) {
			if f.ID == ruleAnswer && f.Object == "a/unattend.xml.pkrtpl" {
				worst = max(worst, f.Severity)
			}
		}
		if worst != want {
			t.Errorf("%s: %s, want %s", values, worst, want)
		}
	}
}

func TestNoTemplate(t *testing.T) {
	empty, old := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(old, "packer.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{empty: "there is no .pkr.hcl file", old: "templates in the JSON from before HCL aren't read", filepath.Join(empty, "x"): "no such folder"} {
		_, err := Check(t.Context(), path, Options{})
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.What, want) || f.Fix == "" {
			t.Errorf("want %q with a fix, have %v", want, err)
		}
	}
	_, err := Check(t.Context(), written(t, template.Options{Platform: "qemu"}), Options{VarFiles: []string{"absent"}})
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Errorf("have %v", err)
	}
}

// FuzzCheck: whatever stands in a template, it is read or refused.
func FuzzCheck(f *testing.F) {
	f.Add("source \"vsphere-iso\" \"x\" {\n  guest_os_type = var.a\n}\nvariable \"a\" {}\n")
	f.Add("locals {\n  a = local.b\n  b = local.a\n}\nbuild {\n  provisioner \"powershell\" {\n    scripts = [1, null]\n  }\n}\n")
	f.Add("source \"qemu\" \"x\" {\n  iso_url = [1]\n  iso_checksum = {}\n}")
	f.Add("variables {\n  pass = [{ token = 1 }]\n}\nbuild {\n  source \"null.x\" {\n    password = local.x.y[var.pass]\n  }\n  dynamic \"provisioner\" {\n    labels = var\n    content {\n    }\n  }\n}\nsource \"null\" \"x\" {}\nlocals {\n  x = local\n}\n")
	f.Add(jsonTemplate)
	f.Fuzz(func(t *testing.T, text string) {
		dir, name := t.TempDir(), "x.pkr.hcl"
		if strings.HasPrefix(text, "{") {
			name = "x.pkr.json"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Check(t.Context(), dir, Options{})
		if _, refused := errors.AsType[*fault.Error](err); err != nil && !refused {
			t.Errorf("%q: %v", text, err)
		}
	})
}

// TestScriptOnMedium: an answer file runs what Packer puts onto a CD or floppy.
func TestScriptOnMedium(t *testing.T) {
	run := func(line string) string {
		return setup(`<settings pass="oobeSystem"><component name="Microsoft-Windows-Shell-Setup" processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS"><FirstLogonCommands><SynchronousCommand><Order>1</Order><CommandLine>` + line + `</CommandLine></SynchronousCommand></FirstLogonCommands></component></settings>`)
	}
	const search = `cmd /c for %x in (D E F) do if exist %x:\setup.cmd call %x:\setup.cmd`
	for _, c := range []struct {
		body, line string
		want       bool
	}{
		{`cd_files = ["autounattend.xml"]`, search, true},
		{`cd_files = ["autounattend.xml"]`, search + "</CommandLine></SynchronousCommand>\n<SynchronousCommand><Order>2</Order><CommandLine>E:\\setup.cmd", true},
		{`cd_files = ["autounattend.xml"]`, `powershell -File E:\sub\first.ps1`, true},
		{`cd_files = ["autounattend.xml"]`, `powershell -Command "foreach ($d in 'D','E') { &amp; $d:\first.ps1 }"`, true},
		{`floppy_files = ["autounattend.xml"]`, `cmd /c a:\setup.cmd`, true},
		{"cd_content = {\n\"autounattend.xml\" = file(\"${path.root}/autounattend.xml\")\n}", search, true},
		{"cd_content = {\n\"autounattend.xml\" = file(\"${path.root}/autounattend.xml\")\n\"SETUP.cmd\" = \"ver\"\n}", search, false},
		{`cd_files = ["autounattend.xml", "scripts/setup.cmd"]`, search, false},
		{`cd_files = ["autounattend.xml", "scripts/*"]`, search, false},
		{`cd_files = ["autounattend.xml", "scripts"]`, `powershell -File E:\sub\first.ps1`, false},
		{`cd_files = concat(["autounattend.xml"], var.more)`, search, false},
		{`cd_files = ["autounattend.xml", "/opt/scripts"]`, search, false},
		{"cd_files = [\"autounattend.xml\"]\niso_paths = [\"[d] windows.iso\", \"[d] scripts.iso\"]", search, false},
		{"cd_files = [\"autounattend.xml\"]\niso_paths = [\"[d] windows.iso\", \"[] /vmimages/tools-isoimages/windows.iso\"]", search, true},
		{"cd_files = [\"autounattend.xml\"]\niso_paths = [\"[d] ${var.more}\"]", search, true},
		{"cd_files = [\"autounattend.xml\"]\niso_paths = [\"[d] ${var.more}\", \"[d] b.iso\"]", search, false},
		{"cd_files = [\"autounattend.xml\"]\niso_paths = var.more", search, false},
		{"cd_files = [\"autounattend.xml\"]\ncd_content = [\"setup.cmd\"]", search, false},
		{"cd_files = [\"autounattend.xml\"]\nadditional_iso_files {\niso_file = \"local:iso/scripts.iso\"\n}", search, false},
		{"cd_files = [\"autounattend.xml\"]\ndynamic \"additional_iso_files\" {\nfor_each = [1]\ncontent {\niso_file = \"local:iso/scripts.iso\"\n}\n}", search, false},
		{"cd_files = [\"autounattend.xml\"]\nqemuargs = [[\"-drive\", \"file=scripts.iso,media=cdrom\"]]", search, false},
		{`cd_files = ["autounattend.xml"]`, `C:\Windows\Setup\setup.cmd`, false},
		{`cd_files = ["autounattend.xml"]`, `powershell -File $env:TEMP\first.ps1`, false},
		{`cd_files = ["autounattend.xml"]`, `powershell -Command Get-Volume <!-- E:\setup.cmd -->`, false},
		{`http_directory = "scripts"`, search, false},
	} {
		files := map[string]string{"a.pkr.hcl": sourced("proxmox-iso", c.body) + "variable \"more\" {}\n" + provisioned(`inline = ["sysprep.exe /generalize /oobe /unattend:C:/b.xml"]`),
			"autounattend.xml": run(c.line), "scripts/setup.cmd": "ver\n", "scripts/sub/first.ps1": "Get-Date\n"}
		found := 0
		for _, f := range check(t, writeFiles(t, files), Options{}) {
			if f.ID == ruleAnswer && f.Severity == finding.Warn && strings.Contains(f.Observed, "no such file onto") {
				found++
			}
		}
		if (found > 0) != c.want || found > 1 {
			t.Errorf("%s, %s: %d", c.body, c.line, found)
		}
	}
}
