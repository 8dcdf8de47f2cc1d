package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// TestMachines: each source is judged by what its own builds do.
func TestMachines(t *testing.T) {
	const two = "source \"azure-arm\" \"a\" {\n}\nsource \"azure-arm\" \"b\" {\n}\n"
	build := func(sources, more string) string {
		return "build {\n  sources = " + sources + "\n  provisioner \"powershell\" {\n" + more + "\n    inline = [\"sysprep /generalize /oobe\"]\n  }\n}\n"
	}
	const a, both, none = `["source.azure-arm.a"]`, `["azure-arm.a", "source.azure-arm.b"]`, "build {\n  sources = [\"source.azure-arm.b\"]\n}\n"
	for name, c := range map[string]struct{ hcl, want string }{
		"a build for both":           {two + build(both, ""), ""},
		"a build for one":            {two + build(a, "") + none, "nothing runs it, for azure-arm.b"},
		"a build for each":           {two + build(a, "") + build(`["source.azure-arm.b"]`, ""), ""},
		"neither":                    {two + "build {\n  sources = " + both + "\n}\n", "nothing runs it"},
		"only one":                   {two + build(both, `only = ["azure-arm.a"]`), "nothing runs it, for azure-arm.b"},
		"all except one":             {two + build(both, `except = ["azure-arm.a"]`), "nothing runs it, for azure-arm.a"},
		"only what nobody knows yet": {two + "variable \"v\" {}\n" + build(both, `only = var.v`), ""},
		"sources given later":        {two + "variable \"v\" {}\n" + build("var.v", ""), ""},
		"a name of the build's own": {two + "build {\n  source \"azure-arm.a\" {\n    name = \"c\"\n    x = 1\n  }\n  provisioner \"powershell\" {\n    only = [\"azure-arm.c\"]\n    inline = [\"sysprep /generalize /oobe\"]\n  }\n}\n" + build(both, ""),
			""},
	} {
		t.Run(name, func(t *testing.T) {
			found := slices.DeleteFunc(check(t, writeFiles(t, map[string]string{"w.pkr.hcl": c.hcl}), Options{}), func(f finding.Finding) bool { return f.ID != "template.sysprep" })
			if len(found) != 1 || c.want == "" && found[0].Severity != finding.Pass || c.want != "" && found[0].Observed != c.want {
				t.Errorf("want %q, have %+v", c.want, found)
			}
		})
	}
}

// TestAnswerFilesOfEach: a source's firmware and guest are held to its own answer
// file.
func TestAnswerFilesOfEach(t *testing.T) {
	source := func(name, firmware, guest, image string) string {
		return "source \"vsphere-iso\" \"" + name + "\" {\n  firmware = \"" + firmware + "\"\n  guest_os_type = \"" + guest + "\"\n  cd_files = [\"" + name + "/autounattend.xml\"]\n  notes = var." + image + "\n}\n" +
			"variable \"" + image + "\" {\n  default = \"Windows Server " + image[1:] + " SERVERSTANDARD\"\n}\n"
	}
	file := func(kind string) string {
		return strings.Replace(setup(""), `<settings`, `<settings pass="windowsPE"><component name="Microsoft-Windows-Setup" processorArchitecture="amd64" publicKeyToken="31bf3856ad364e35" language="neutral" versionScope="nonSxS"><DiskConfiguration><Disk><CreatePartitions><CreatePartition><Type>`+kind+`</Type></CreatePartition></CreatePartitions></Disk></DiskConfiguration></component></settings><settings`, 1)
	}
	dir := writeFiles(t, map[string]string{"w.pkr.hcl": source("a", "efi", "windows2019srvNext_64Guest", "v2022") + source("b", "bios", "windows2022srvNext_64Guest", "v2025"),
		"a/autounattend.xml": file("EFI"), "b/autounattend.xml": file("Primary")})
	for _, f := range check(t, dir, Options{}) {
		if f.ID == "template.firmware" && f.Severity > finding.Warn || strings.HasPrefix(f.Observed, "the edition") {
			t.Errorf("have %+v", f)
		}
	}
}

// TestSpellings: what other people write, in scripts and in HCL.
func TestSpellings(t *testing.T) {
	step := func(script, id, object string, want finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": fromCD("", "autounattend.xml") + provisioned(`script = "a.ps1"`), "a.ps1": script, "autounattend.xml": setup("")}, id, object, want}
	}
	batch := func(script, object string, want finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": fromCD("", "autounattend.xml") + "build {\n  provisioner \"windows-shell\" {\n    script = \"a.cmd\"\n  }\n}\n", "a.cmd": script, "autounattend.xml": setup("")}, ruleStep, object, want}
	}
	metadata := func(key, command, object string, want finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"googlecompute\" \"w\" {\n  metadata = { " + key + " = \"" + command + "\" }\n}\n"}, ruleLeft, object, want}
	}
	named := func(name string) theirs {
		return theirs{map[string]string{"w.pkr.hcl": fromCD("", "unattend.xml"), "unattend.xml": strings.Replace(setup(generalizePass), "<UserAccounts>", "<ComputerName>"+name+"</ComputerName><UserAccounts>", 1)}, ruleStep, "host-name", finding.Warn}
	}
	const conf, keyFile = `'C:\ProgramData\VMware\VMware Tools\tools.conf'`, `C:\ProgramData\ssh\administrators_authorized_keys`
	judge(t, map[string]theirs{
		"a here-string that is piped":     step("@\"\n[guestinfo]\nexclude-nics=\n\"@ | Out-File "+conf, ruleStep, "exclude-nics", finding.Pass),
		"a line that is replaced":         step("(Get-Content c) -replace '^#?PasswordAuthentication.*', 'PasswordAuthentication no' | Set-Content c", ruleStep, "password-logon", finding.Pass),
		"a line that is replaced wrongly": step("(Get-Content c) -replace '^#?PasswordAuthentication.*', 'PasswordAuthentication yes' | Set-Content c", ruleStep, "password-logon", finding.Warn),
		"a hash table's entries":          step("@{ a = 10250 }.GetEnumerator() | % { New-NetFirewallRule -Name $_.Key -Direction Inbound -Protocol TCP -LocalPort $_.Value -Action Allow }", ruleStep, "port-10250", finding.Pass),
		"a loop with netsh":               step("foreach ($p in 22, 10250) { & netsh advfirewall firewall add rule name=\"node-$p\" dir=in action=allow protocol=TCP localport=$p }", ruleStep, "port-10250", finding.Pass),
		"a loop that starts netsh":        step("$ports = 22, 10250\nfor ($i = 0; $i -lt $ports.Count; $i++) {\n  $p = $ports[$i]\n  Start-Process netsh -ArgumentList \"advfirewall firewall add rule name=node$p dir=in action=allow protocol=TCP localport=$p\" -Wait\n}", ruleStep, "port-10250", finding.Pass),
		"a loop with netsh without it":    step("foreach ($p in 22, 10251) { & netsh advfirewall firewall add rule name=\"node-$p\" dir=in action=allow protocol=TCP localport=$p }", ruleStep, "port-10250", finding.Block),
		"ports by their names":            step("$p = @{ ssh = 22; logs = 10250 }\nforeach ($n in $p.Keys) { New-NetFirewallRule -Name $n -DisplayName $n -Direction Inbound -Protocol TCP -LocalPort $p[$n] -Action Allow }", ruleStep, "port-10250", finding.Pass),
		"ports that are values":           step("$p = @{ ssh = 22; logs = 10250 }\n$p.Values | ForEach-Object { New-NetFirewallRule -DisplayName $_ -Direction Inbound -Protocol TCP -LocalPort $_ -Action Allow }", ruleStep, "port-10250", finding.Pass),
		"ports by other names":            step("$p = @{ ssh = 22; logs = 10251 }\nforeach ($n in $p.Keys) { New-NetFirewallRule -Name $n -DisplayName $n -Direction Inbound -Protocol TCP -LocalPort $p[$n] -Action Allow }", ruleStep, "port-10250", finding.Block),
		"a loop of cmd":                   batch("for %%p in (22 10250) do (\n  netsh advfirewall firewall add rule name=x%%p dir=in action=allow protocol=TCP localport=%%p\n)", "port-10250", finding.Pass),
		"a loop of cmd without it":        batch("for %%p in (22 10251) do (\n  netsh advfirewall firewall add rule name=x%%p dir=in action=allow protocol=TCP localport=%%p\n)", "port-10250", finding.Block),
		"a file in front of echo":         batch(">\""+keyFile+"\" echo %KEY%", "authorized-keys", finding.Pass),
		"a key file that goes again":      step("Set-Content "+keyFile+" $env:K\nRemove-Item -Force "+keyFile, ruleStep, "authorized-keys", finding.Block),
		"a key file that comes again":     step("Remove-Item -Force "+keyFile+"\nSet-Content "+keyFile+" $env:K", ruleStep, "authorized-keys", finding.Pass),
		"a feature that goes again":       step("Install-WindowsFeature Containers\nUninstall-WindowsFeature Containers", ruleStep, "containers-feature", finding.Warn),
		"a feature that dism takes":       step("dism /online /disable-feature /featurename:Containers", ruleStep, "containers-feature", finding.Warn),
		"the firewall is off":             step("Set-NetFirewallProfile -Profile Domain,Public -Enabled False", ruleLeft, "firewall", finding.Warn),
		"the firewall is off by netsh":    step("netsh advfirewall set allprofiles state off", ruleLeft, "firewall", finding.Warn),
		"the firewall is on again":        step("netsh advfirewall set allprofiles state off\nSet-NetFirewallProfile -All -Enabled True", ruleLeft, "firewall", finding.Pass),
		"a startup script of Google's":    metadata("windows-startup-script-cmd", "net user /add joe & net localgroup administrators joe /add", "joe", finding.Warn),
		"a description in metadata":       metadata("comment", "net user /add joe", "joe", finding.Pass),
		"WinRM by the registry":           step(`reg add HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\WSMAN\Service /v allow_unencrypted /t REG_DWORD /d 1 /f`, "template.winrm", "a.ps1", finding.Block),
		"WinRM by a policy":               step(`Set-ItemProperty HKLM:\SOFTWARE\Policies\Microsoft\Windows\WinRM\Service -Name AllowUnencryptedTraffic -Value 1`, "template.winrm", "a.ps1", finding.Block),
		"an installer from afar":          step("msiexec /i https://example.com/a.msi /qn", ruleDownload, "a.ps1", finding.Warn),
		"an installer that is there":      step("msiexec /i $setup /qn", ruleDownload, "a.ps1", finding.Pass),
		"one name for all clones":         named("goldimage01"),
		"docker by its installer":         step(`Start-Process msiexec.exe -Wait -ArgumentList "/i C:\temp\docker.msi /qn"`, ruleStep, "container-runtime", finding.Block),
		"docker is uninstalled":           step(`Start-Process msiexec.exe -Wait -ArgumentList "/x C:\temp\docker.msi /qn"`, ruleStep, "container-runtime", finding.Pass),
		"containerd by CIM":               step(`Invoke-CimMethod -ClassName Win32_Service -MethodName Create -Arguments @{ Name = 'containerd'; PathName = 'C:\c.exe' }`, ruleStep, "container-runtime", finding.Block),
		"containerd by the registry":      step(`New-Item HKLM:\SYSTEM\CurrentControlSet\Services\containerd -Force`, ruleStep, "container-runtime", finding.Block),
		"WinRM by a hash table":           step("Set-WSManInstance -ResourceURI winrm/config/service -ValueSet @{ AllowUnencrypted = $true }", "template.winrm", "a.ps1", finding.Block),
		"WinRM from its drive":            step(`cd WSMan:\localhost\Service; Set-Item AllowUnencrypted true`, "template.winrm", "a.ps1", finding.Block),
		"an account that is piped away":   step("New-LocalUser tmp -NoPassword\nGet-LocalUser tmp | Remove-LocalUser", ruleLeft, "tmp", finding.Pass),
		"an account by ADSI":              step("$u = ([ADSI]'WinNT://localhost').Create('User', 'joe')", ruleLeft, "joe", finding.Warn),
		"choco's newest":                  step("choco install 7zip -y", ruleDownload, "a.ps1", finding.Warn),
		"choco by version":                step("choco install 7zip -y --version 24.9.0\nchoco feature enable -n=a", ruleDownload, "a.ps1", finding.Pass),
		"updates that may fail by number": step("Install-WindowsUpdate -AcceptAll -EA 0", "template.updates", "a.ps1", finding.Warn),
		"updates that are caught":         step("try { Get-WindowsUpdate -AcceptAll -Install } catch {}\nif ($x) { throw 'y' }", "template.updates", "a.ps1", finding.Warn),
		"an update that nobody asks":      step("Start-Process wusa.exe -ArgumentList 'C:\\a.msu /quiet' -Wait", "template.updates", "a.ps1", finding.Warn),
		"an update that is asked":         step("$p = Start-Process wusa.exe -ArgumentList 'C:\\a.msu /quiet' -Wait -PassThru\nif ($p.ExitCode -ne 0) { throw 1 }", "template.updates", "", finding.Pass),
		"a disk that Setup can't see": {map[string]string{"w.pkr.hcl": "source \"qemu\" \"w\" {\n  disk_interface = \"virtio-scsi\"\n  cd_files = [\"autounattend.xml\"]\n}\n", "autounattend.xml": setup("")},
			ruleAnswer, "qemu.w", finding.Block},
		"a disk with a driver": {map[string]string{"w.pkr.hcl": "source \"proxmox-iso\" \"w\" {\n  scsi_controller = \"virtio-scsi-single\"\n  cd_files = [\"autounattend.xml\"]\n}\n", "autounattend.xml": setup("<settings pass=\"windowsPE\"><component name=\"Microsoft-Windows-PnpCustomizationsWinPE\" processorArchitecture=\"amd64\" publicKeyToken=\"31bf3856ad364e35\" language=\"neutral\" versionScope=\"nonSxS\"><DriverPaths/></component></settings>")},
			ruleAnswer, "proxmox-iso.w", finding.Pass},
		"Linux's secure boot": {map[string]string{"w.pkr.hcl": "source \"hyperv-iso\" \"w\" {\n  generation = 2\n  secure_boot_template = \"MicrosoftUEFICertificateAuthority\"\n}\n"},
			"template.firmware", "hyperv-iso.w", finding.Block},
	})
	for _, f := range check(t, writeFiles(t, named("goldimage01").files), Options{}) {
		if f.Object == "host-name" && f.Observed != "all clones are called goldimage01" {
			t.Errorf("have %+v", f)
		}
	}
}

// TestPasswordsInScripts: what a script has, and not what it is given.
func TestPasswordsInScripts(t *testing.T) {
	with := func(script string, want finding.Severity) theirs {
		return theirs{map[string]string{"w.pkr.hcl": "source \"azure-arm\" \"w\" {\n}\n" + provisioned("env = { P = var.p }\nscript = \"a.ps1\"") + "variable \"p\" {\n  sensitive = true\n}\n", "a.ps1": script, "a.auto.pkrvars.hcl": "p = \"Sommer26!\"\n"}, "template.secret", "a.ps1", want}
	}
	judge(t, map[string]theirs{
		"a string":             with("$p = ConvertTo-SecureString 'Herbst26!' -AsPlainText -Force", finding.Block),
		"a string by name":     with("ConvertTo-SecureString -Force -AsPlainText -String 'Herbst26!'", finding.Block),
		"ADSI":                 with("$u.SetPassword('Herbst26!')", finding.Block),
		"a task's":             with("schtasks /create /tn x /tr y /ru joe /rp Herbst26!", finding.Block),
		"random characters":    with("ConvertTo-SecureString (-join (1..9 | Get-Random | % { [char]$_ })) -AsPlainText -Force", finding.Pass),
		"net user":             with("net user joe Herbst26! /add", finding.Block),
		"a logon's":            with(`Set-ItemProperty HKLM:\Winlogon -Name DefaultPassword -Value 'Herbst26!'`, finding.Block),
		"a logon's, by reg":    with(`reg add HKLM\Winlogon /v DefaultPassword /t REG_SZ /d Herbst26! /f`, finding.Block),
		"what is given":        with("ConvertTo-SecureString $env:P -AsPlainText -Force", finding.Pass),
		"what is made":         with("ConvertTo-SecureString ('a' + [guid]::NewGuid()) -AsPlainText -Force", finding.Pass),
		"no password":          with("net user joe /active:no", finding.Pass),
		"a random one":         with("net user joe * /add\nnet user %u% %p% /add", finding.Pass),
		"a logon's is removed": with(`Remove-ItemProperty HKLM:\Winlogon -Name DefaultPassword`, finding.Pass),
	})
}

// What is missing may be in the machine that is cloned. Nothing there generalizes
// the clone.
func TestClonedMachine(t *testing.T) {
	for _, f := range check(t, writeFiles(t, map[string]string{"w.pkr.hcl": "source \"vsphere-clone\" \"w\" {\n}\n"}), Options{}) {
		if f.ID == ruleStep && f.Severity > finding.Unknown || f.ID == "template.sysprep" && f.Severity != finding.Block {
			t.Errorf("have %+v", f)
		}
	}
}
