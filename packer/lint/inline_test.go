package lint

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/winbake/winbake/internal/base/finding"
)

// encode is what -EncodedCommand is given.
func encode(t *testing.T, script string) string {
	t.Helper()
	text, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(script)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString([]byte(text))
}

// worse are a folder's findings that somebody has to act on, of one source with one
// provisioner.
func worse(t *testing.T, files map[string]string) []finding.Finding {
	t.Helper()
	return slices.DeleteFunc(check(t, writeFiles(t, files), Options{}), func(f finding.Finding) bool {
		return f.Severity <= finding.Info || f.Severity == finding.Unknown
	})
}

// sourced is HCL of a source of this kind, run puts a provisioner to it.
func sourced(kind, body string) string { return "source \"" + kind + "\" \"a\" {\n" + body + "\n}\n" }

func run(kind, body string) map[string]string {
	return map[string]string{"w.pkr.hcl": sourced("qemu", "") + "build {\n  sources = [\"source.qemu.a\"]\n  provisioner \"" + kind + "\" {\n" + body + "\n  }\n}\n"}
}

// carriers are ways in which HCL has a script in it.
func carriers(t *testing.T, script string) map[string]map[string]string {
	t.Helper()
	quoted, coded := strconv.Quote(script), encode(t, script)
	call := func(before, after string) string { return strconv.Quote(before + script + after) }
	userData := func(kind, value string) map[string]string {
		return map[string]string{"w.pkr.hcl": sourced(kind, "user_data = "+value), "u.txt": "<powershell>\n" + script + "\n</powershell>\n"}
	}
	local := run("powershell", `inline = ["powershell.exe -EncodedCommand ${textencodebase64(local.s, "UTF-16LE")}"]`)
	local["w.pkr.hcl"] += "locals {\n  s = <<E\n" + script + "\nE\n}\n"
	return map[string]map[string]string{
		"inline":                    run("powershell", "inline = ["+quoted+"]"),
		"inline heredoc":            run("powershell", "inline = [<<-E\n"+script+"\nE\n]"),
		"encoded, in PowerShell":    run("powershell", `inline = ["powershell.exe -NoProfile -EncodedCommand `+coded+`"]`),
		"encoded, in cmd":           run("windows-shell", `inline = ["powershell -nop -enc `+coded+`"]`),
		"encoded by HCL":            run("powershell", `inline = ["powershell.exe -EncodedCommand ${textencodebase64(`+quoted+`, "UTF-16LE")}"]`),
		"encoded local":             local,
		"decoded by PowerShell":     run("powershell", `inline = ["iex ([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String('`+coded+`')))"]`),
		"-Command in cmd":           run("windows-shell", "inline = ["+call("powershell -Command ", "")+"]"),
		"execute_command":           run("powershell", "inline = [\"Write-Output a\"]\nexecute_command = "+call(`powershell -Command "`, `; . {{.Path}}"`)),
		"elevated_execute_command":  run("powershell", "inline = [\"Write-Output a\"]\nelevated_execute_command = "+call(`powershell -Command "`, `; . {{.Path}}"`)),
		"execute_command of cmd":    run("windows-shell", "inline = [\"ver\"]\nexecute_command = "+call(`powershell -Command "`, `" & {{.Path}}`)),
		"restart_command":           run("windows-restart", "restart_command = "+call("powershell -Command ", "")),
		"shutdown_command":          {"w.pkr.hcl": sourced("qemu", "shutdown_command = "+call("powershell -Command ", ""))},
		"user data":                 userData("amazon-ebs", "<<E\n<powershell>\n"+script+"\n</powershell>\nE\n"),
		"user data for cmd":         userData("amazon-ebs", "<<E\n<script>\npowershell -EncodedCommand "+coded+"\n</script>\nE\n"),
		"user data of both":         userData("amazon-ebs", "<<E\n<script>\nver\n</script>\n<powershell>\n"+script+"\n</powershell>\nE\n"),
		"user data in base64":       userData("azure-arm", "base64encode(<<E\n<powershell>\n"+script+"\n</powershell>\nE\n)"),
		"user data in a file":       userData("amazon-ebs", "file(\"u.txt\")"),
		"a script of the metadata":  {"w.pkr.hcl": sourced("googlecompute", "metadata = {\n  \"windows-startup-script-ps1\" = <<E\n"+script+"\nE\n}")},
		"the content of an upload":  {"w.pkr.hcl": sourced("qemu", "") + "build {\n  sources = [\"source.qemu.a\"]\n  provisioner \"file\" {\n    content = <<E\n" + script + "\nE\n    destination = \"C:/x.ps1\"\n  }\n  provisioner \"powershell\" {\n    inline = [\"C:/x.ps1\"]\n  }\n}\n"},
		"a script with another end": {"w.pkr.hcl": run("powershell", `script = "a.txt"`)["w.pkr.hcl"], "a.txt": script + "\n"},
	}
}

// TestInline: what HCL has in itself is held to the rules of files.
func TestInline(t *testing.T) {
	for _, c := range []struct {
		script, id, object string
		but                []string // where it isn't found, which docs/golden-image.md says
	}{
		{"net user packer Pa55word1x /add", "template.left", "packer", nil},
		{"net user packer Pa55word1x /add", "template.secret", "", nil},
		{"Invoke-WebRequest https://example.com/a.exe -OutFile C:/a.exe; C:/a.exe", "template.download", "", nil},
		{"git clone https://example.com/a.git", "template.download", "", nil},
		{"winrm set winrm/config/service '@{AllowUnencrypted=\"true\"}'", "template.winrm", "", nil},
		{"choco install -y docker-engine", "template.checklist", "container-runtime", nil},
		{"sc.exe create csiproxy binPath= C:/k/csi-proxy.exe", "template.checklist", "csi-proxy", nil},
		{"Install-WindowsUpdate -AcceptAll -ErrorAction SilentlyContinue", "template.updates", "", nil},
		{"D:/setup64.exe /S", "template.letter", "", []string{"decoded by PowerShell"}},
		{"Write-Output 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAA ci@example.com'", "template.key", "", []string{"decoded by PowerShell"}},
		{"if ($a { Write-Output b }", "template.script", "", []string{"decoded by PowerShell", "-Command in cmd", "execute_command", "elevated_execute_command", "execute_command of cmd", "restart_command", "shutdown_command"}},
	} {
		all := carriers(t, c.script)
		for _, name := range sortedKeys(all) {
			found := worse(t, all[name])
			hit := slices.ContainsFunc(found, func(f finding.Finding) bool { return f.ID == c.id && strings.Contains(f.Object, c.object) })
			if hit == slices.Contains(c.but, name) {
				t.Errorf("%s, %s: found is %t: %+v", c.id, name, hit, found)
			}
		}
	}
}

// TestInlineHarmless: nothing is found in what is no fault, however it is carried.
func TestInlineHarmless(t *testing.T) {
	ids := []string{"template.left", "template.secret", "template.download", "template.winrm", "template.updates", "template.letter", "template.key", "template.script"}
	for _, script := range []string{
		"Write-Output 'net user packer Pa55word1x /add'",
		"# Invoke-WebRequest https://example.com/a.exe -OutFile C:/a.exe",
		"Get-Service -Name WinRM",
		"Write-Output 'the CD is D:/ or E:/ mostly'",
	} {
		all := carriers(t, script)
		for _, name := range sortedKeys(all) {
			for _, f := range worse(t, all[name]) {
				if slices.Contains(ids, f.ID) && f.Observed != "nothing but comments" {
					t.Errorf("%s of %q: %+v", name, script, f)
				}
			}
		}
	}
	for name, files := range map[string]map[string]string{
		// https://developer.hashicorp.com/packer/docs/provisioners/powershell
		"Packer's own": run("powershell", "inline = [\"Write-Output a\"]\nexecute_command = "+strconv.Quote(`powershell -executionpolicy bypass "& { if (Test-Path variable:global:ProgressPreference){set-variable -name variable:global:ProgressPreference -value 'SilentlyContinue'};. {{.Vars}}; &'{{.Path}}'; exit $LastExitCode }"`)),
		"cmd's own":    run("windows-shell", "inline = [\"ver\"]\nexecute_command = "+strconv.Quote(`{{.Vars}}"{{.Path}}"`)),
		"the host's":   run("shell-local", "inline = [\"true\"]\nexecute_command = [\"/bin/sh\", \"-c\", \"net user a Pa55word1x /add; {{.Script}}\"]"),
		"no base64":    run("windows-shell", `inline = ["powershell -Encoding UTF8abcdefgh", "powershell -File a.ps1 -Environment production0"]`),
	} {
		for _, f := range worse(t, files) {
			if slices.Contains(ids, f.ID) {
				t.Errorf("%s: %+v", name, f)
			}
		}
	}
}

// TestClones: a clone is of a commit, or one is checked out in it.
func TestClones(t *testing.T) {
	const url, sha = "https://github.com/example/tools.git", "0123456789abcdef0123456789abcdef01234567"
	for script, found := range map[string]bool{
		"git clone " + url: true,
		"git clone --depth 1 --branch v1.2.3 " + url + " C:/tools":                                                                   true,
		"git.exe clone git@github.com:example/tools.git":                                                                             true,
		"& 'C:/Program Files/Git/cmd/git.exe' clone " + url:                                                                          true,
		"Start-Process git -ArgumentList 'clone " + url + "' -Wait":                                                                  true,
		"git clone " + url + "\ngit -C tools checkout v1.2.3":                                                                        true,
		"git clone " + url + "\ngit -C tools checkout 0123456":                                                                       true,
		"git clone " + url + "\ngit -C other checkout " + sha:                                                                        true,
		"git clone " + url + "\ncd C:/other\ngit checkout " + sha:                                                                    true,
		"git clone " + url + "\ngit clone https://github.com/example/b\ngit -C b checkout " + sha:                                    true,
		"git -C old checkout " + sha + "\ngit clone " + url:                                                                          true,
		"git clone " + url + "\ngit -C tools checkout " + sha:                                                                        false,
		"git clone " + url + "\ncd tools\ngit checkout --detach " + sha:                                                              false,
		"git clone " + url + " C:/src/t\nSet-Location C:/src/t\ngit reset --hard " + sha:                                             false,
		"git clone --revision=" + sha + " " + url:                                                                                    false,
		"$c = '" + sha + "'\ngit clone " + url + "\ngit -C tools checkout $c":                                                        false,
		"git clone " + url + "\ngit -C tools checkout $env:COMMIT":                                                                   false,
		"git clone " + url + "\ngit clone https://github.com/example/b\ngit -C tools checkout " + sha + "\ngit -C b checkout " + sha: false,
		"git clone D:/mirror/tools.git":                                                                                              false,
		"git clone http://$env:PACKER_HTTP_ADDR/tools.git":                                                                           false,
		"Write-Output 'git clone " + url + "'":                                                                                       false,
		"# git clone " + url:                                                                                                         false,
		"git init tools\ngit -C tools fetch " + url + " " + sha:                                                                      false,
	} {
		hit := slices.ContainsFunc(worse(t, map[string]string{"w.pkr.hcl": run("powershell", `script = "a.ps1"`)["w.pkr.hcl"], "a.ps1": script + "\n"}),
			func(f finding.Finding) bool {
				return f.ID == "template.download" && strings.HasPrefix(f.Observed, "git clone")
			})
		if hit != found {
			t.Errorf("found is %t, want %t:\n%s", hit, found, script)
		}
	}
}

// TestToldPasswords: those on command lines, and what is none.
func TestToldPasswords(t *testing.T) {
	for command, found := range map[string]bool{
		`net use Z: \\files\share Pa55word1x /user:corp\builder /persistent:no`:        true,
		`net use \\files\share /user:corp\builder Pa55word1x`:                          true,
		`net.exe use * \\files\share Pa55word1x`:                                       true,
		`netdom join %COMPUTERNAME% /domain:corp /userd:builder /passwordd:Pa55word1x`: true,
		`netdom renamecomputer %COMPUTERNAME% /newname:a /userd:b /pd:Pa55word1x`:      true,
		`netdom renamecomputer a /newname:b /usero:c /passwordo:Pa55word1x /force`:     true,
		`Autologon64.exe Administrator corp Pa55word1x /accepteula`:                    true,
		`C:\tools\Autologon.exe -accepteula Administrator . Pa55word1x`:                true,
		`cmdkey /add:files /user:corp\builder /pass:Pa55word1x`:                        true,
		`net use Z: \\files\share * /user:corp\builder`:                                false,
		`net use Z: \\files\share /user:corp\builder`:                                  false,
		`net use Z: \\files\share %FILES_PASSWORD% /user:corp\builder`:                 false,
		`net use Z: /delete`:               false,
		`net use \\files\share /delete /y`: false,
		`netdom join %COMPUTERNAME% /domain:corp /userd:builder /passwordd:*`:                 false,
		`netdom join %COMPUTERNAME% /domain:corp /userd:builder /passwordd:%DOMAIN_PASSWORD%`: false,
		`Autologon64.exe /accepteula`:              false,
		`echo net use Z: \\files\share Pa55word1x`: false,
	} {
		hit := slices.ContainsFunc(worse(t, map[string]string{"w.pkr.hcl": run("windows-shell", `script = "a.cmd"`)["w.pkr.hcl"], "a.cmd": command + "\n"}),
			func(f finding.Finding) bool { return f.ID == "template.secret" })
		if hit != found {
			t.Errorf("found is %t, want %t: %s", hit, found, command)
		}
	}
}

// TestBootKeys: EFI's prompt of a CD of Windows is answered.
func TestBootKeys(t *testing.T) {
	for name, c := range map[string]struct {
		kind, body string
		found      bool
	}{
		"vSphere":               {"vsphere-iso", `firmware = "efi-secure"` + "\n" + `iso_paths = ["[a] windows.iso"]`, true},
		"vSphere, empty":        {"vsphere-iso", `firmware = "efi"` + "\nboot_command = []", true},
		"an empty string":       {"qemu", "efi_boot = true\nboot_command = [\"\"]", true},
		"waiting":               {"qemu", "efi_boot = true\nboot_command = [\"<wait5>\", \" <wait>\"]", true},
		"Hyper-V":               {"hyperv-iso", "generation = 2", true},
		"Proxmox":               {"proxmox-iso", `bios = "ovmf"`, true},
		"a variable without":    {"qemu", "efi_boot = true\nboot_command = var.keys\n}\nvariable \"keys\" {\n  default = []", true},
		"a key":                 {"vsphere-iso", `firmware = "efi"` + "\nboot_command = [\"<spacebar>\"]", false},
		"keys and pauses":       {"hyperv-iso", "generation = 2\nboot_command = [\"<wait>\", \"a<wait>a\"]", false},
		"given at build time":   {"qemu", "efi_boot = true\nboot_command = var.keys\n}\nvariable \"keys\" {", false},
		"BIOS":                  {"vsphere-iso", `firmware = "bios"`, false},
		"vSphere's default":     {"vsphere-iso", "", false},
		"an ISO without prompt": {"qemu", "efi_boot = true\niso_url = \"https://example.com/windows-noprompt.iso\"", false},
		"a disk":                {"qemu", "efi_boot = true\ndisk_image = true", false},
		"Hyper-V's disk":        {"hyperv-iso", "generation = 2\niso_url = \"windows.vhdx\"", false},
		"a clone":               {"vsphere-clone", "", false},
		"a cloud":               {"azure-arm", "", false},
	} {
		hit := slices.ContainsFunc(worse(t, map[string]string{"w.pkr.hcl": sourced(c.kind, c.body)}),
			func(f finding.Finding) bool {
				return f.ID == "template.boot" && strings.Contains(f.Observed, "presses no key")
			})
		if hit != c.found {
			t.Errorf("%s: found is %t, want %t", name, hit, c.found)
		}
	}
}
