package lint

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/packer/template"
)

// seeded is one fault that is put into a template of ours, and the rule that
// finds it: the object's name may be a part of it.
type seeded struct {
	file, old, new string // an empty old is the whole file; new "-" removes it
	id, object     string
}

// What faults are put into.
const (
	image     = "image.pkr.hcl"
	vars      = "variables.pkr.hcl"
	installed = "answers/autounattend.xml.pkrtpl"
	sealed    = "answers/unattend.xml.pkrtpl"
	of        = "scripts/"
)

// also is a command that a script runs besides its own.
func also(command, id, object string) seeded {
	return seeded{of + "features.ps1", "$result = Install-", command + "\n$result = Install-", id, object}
}

func emptied(script, id, object string) seeded {
	return seeded{of + script, "", "# nothing\n", id, object}
}

const ruleAnswer, ruleStep, ruleLeft, ruleDownload, ruleScript = "template.answer", "template.checklist", "template.left", "template.download", "template.script"

// faults are kinds of mistakes that packer validate passes, or that it names in
// other words.
var faults = map[string]seeded{
	"sysprep without /generalize":        {image, "/generalize /oobe", "/oobe", "template.sysprep", "sysprep"},
	"sysprep without /oobe":              {image, "/generalize /oobe", "/generalize", "template.sysprep", "sysprep"},
	"sysprep into audit mode":            {image, "/generalize /oobe", "/generalize /audit", "template.sysprep", "sysprep"},
	"another program than sysprep":       {image, `Sysprep\\sysprep.exe`, `Sysprep\\other.exe`, "template.sysprep", "sysprep"},
	"no task for sysprep":                {of + "generalize.ps1", "$action = New-ScheduledTaskAction -Execute $env:WINBAKE_PROGRAM -Argument $env:WINBAKE_ARGUMENTS", "$action = $null", "template.sysprep", "sysprep"},
	"generalize emptied":                 emptied("generalize.ps1", "template.sysprep", "sysprep"),
	"generalize deleted":                 {of + "generalize.ps1", "", "-", ruleScript, "generalize.ps1"},
	"openssh emptied":                    emptied("openssh.ps1", ruleStep, "openssh"),
	"openssh deleted":                    {of + "openssh.ps1", "", "-", ruleScript, "openssh.ps1"},
	"openssh ends at once":               {of + "openssh.ps1", "function Wait-Network", "exit 0\nfunction Wait-Network", ruleStep, "openssh"},
	"the client of openssh":              {of + "openssh.ps1", "OpenSSH.Server~~~~", "OpenSSH.Client~~~~", "", ""},
	"updates emptied":                    emptied("updates.ps1", ruleStep, "updates"),
	"updates deleted":                    {of + "updates.ps1", "", "-", ruleScript, "updates.ps1"},
	"updates not installed":              {of + "updates.ps1", "$installer.Install()", "$null", ruleStep, "updates"},
	"updates never called":               {of + "updates.ps1", "    Install-Update\n", "    Write-Output 'done'\n", ruleStep, "updates"},
	"vmware-tools emptied":               emptied("vmware-tools.ps1", ruleStep, "vmware-tools"),
	"vmware-tools deleted":               {of + "vmware-tools.ps1", "", "-", ruleScript, "vmware-tools.ps1"},
	"host-name emptied":                  emptied("host-name.ps1", ruleStep, "host-name"),
	"host-name deleted":                  {of + "host-name.ps1", "", "-", ruleScript, "host-name.ps1"},
	"host-name isn't called":             {sealed, `\host-name.ps1`, `\other.ps1`, ruleStep, "host-name"},
	"host-name renames nothing":          {of + "host-name.ps1", "Rename-Computer -NewName", "Write-Output", ruleStep, "host-name"},
	"firewall emptied":                   emptied("firewall.ps1", ruleStep, "port-10250"),
	"a rule that blocks":                 {of + "firewall.ps1", "-LocalPort $rule.Port -Action Allow", "-LocalPort $rule.Port -Action Block", ruleStep, "port-10250"},
	"a rule for outbound":                {of + "firewall.ps1", "-Direction Inbound", "-Direction Outbound", ruleStep, "port-10250"},
	"a rule for UDP":                     {of + "firewall.ps1", "-Protocol TCP", "-Protocol UDP", ruleStep, "port-9182"},
	"another port":                       {of + "firewall.ps1", "Port = 10250", "Port = 10255", ruleStep, "port-10250"},
	"no port for metrics":                {of + "firewall.ps1", "    @{ Name = 'WindowsExporter'; Port = 9182 }\n", "", ruleStep, "port-9182"},
	"a port in a comment":                {of + "firewall.ps1", "    @{ Name = 'ContainerLogsPort'; Port = 10250 }\n", "    # @{ Name = 'ContainerLogsPort'; Port = 10250 }\n", ruleStep, "port-10250"},
	"ssh-access emptied":                 emptied("ssh-access.ps1", ruleStep, "authorized-keys"),
	"keys into the home":                 {of + "ssh-access.ps1", `C:\ProgramData\ssh\administrators_authorized_keys`, `C:\Users\Administrator\.ssh\authorized_keys`, ruleStep, "authorized-keys"},
	"key file for Users":                 {of + "ssh-access.ps1", "'*S-1-5-18:F')", "'*S-1-5-18:F', '/grant', 'BUILTIN\\Users:R')", ruleStep, "authorized-keys-acl"},
	"key file for Everyone by SID":       {of + "ssh-access.ps1", "'*S-1-5-18:F')", "'*S-1-5-18:F', '/grant:r', '*S-1-1-0:(R)')", ruleStep, "authorized-keys-acl"},
	"key file for authenticated users":   {of + "ssh-access.ps1", "*S-1-5-32-544:F", "*S-1-5-11:F", ruleStep, "authorized-keys-acl"},
	"key file keeps inherited rights":    {of + "ssh-access.ps1", "@($new, '/inheritance:r', ", "@($new, ", ruleStep, "authorized-keys-acl"},
	"sshd isn't automatic":               {of + "openssh.ps1", "Set-Service -Name $name -StartupType Automatic", "Set-Service -Name $name -StartupType Manual", "", ""},
	"tools.conf emptied":                 emptied("tools-conf.ps1", ruleStep, "exclude-nics"),
	"tools.conf hides cards":             {of + "tools-conf.ps1", "'exclude-nics='", "'exclude-nics=vEthernet*,cali*'", ruleStep, "exclude-nics"},
	"tools.conf isn't written":           {of + "tools-conf.ps1", "Set-Content -Path $file -Value $wanted -Encoding Ascii", "", ruleStep, "exclude-nics"},
	"features emptied":                   emptied("features.ps1", ruleStep, "containers-feature"),
	"another feature":                    {of + "features.ps1", "-Name 'Containers'", "-Name 'Telnet-Client'", ruleStep, "containers-feature"},
	"features never called":              {of + "features.ps1", "$result = Install-WindowsFeature -Name 'Containers'", "function F { Install-WindowsFeature -Name 'Containers' }\n$result = $null", ruleStep, "containers-feature"},
	"no lowest build":                    {of + "windows-version.ps1", "", "Write-Output 'fine'\n", ruleStep, "os-build"},
	"passwords over SSH":                 {of + "seal.ps1", "PasswordAuthentication no", "PasswordAuthentication yes", ruleStep, "password-logon"},
	"a quote without an end":             {of + "ssh-access.ps1", "throw 'WINBAKE_KEYS is empty", "throw \"WINBAKE_KEYS is empty", ruleScript, "ssh-access.ps1"},
	"a brace without an end":             {of + "firewall.ps1", "foreach ($rule in $rules) {", "foreach ($rule in $rules) { if ($rule) {", ruleScript, "firewall.ps1"},
	"a bracket without an end":           {of + "features.ps1", "-not $result.Success)", "-not $result.Success", ruleScript, "features.ps1"},
	"a comment without an end":           {of + "seal.ps1", "$config = ", "<# $config = ", ruleScript, "seal.ps1"},
	"a here-string without an end":       {of + "seal.ps1", "$config = ", "$x = @'\n'a'@\n$config = ", ruleScript, "seal.ps1"},
	"a script cut in the middle":         {of + "updates.ps1", "$wanted = New-Object", "<#", ruleScript, "updates.ps1"},
	"an answer file that is no XML":      {installed, "", "<not xml", ruleAnswer, installed},
	"an answer file that is deleted":     {installed, "", "-", ruleScript, "autounattend"},
	"sysprep's answer file deleted":      {sealed, "", "-", ruleScript, "unattend"},
	"sysprep's answer file is no XML":    {sealed, "</unattend>", "", ruleAnswer, sealed},
	"no licence accepted":                {installed, "<AcceptEula>true", "<AcceptEula>false", ruleAnswer, installed},
	"no word of the licence":             {installed, "<AcceptEula>true</AcceptEula>", "", ruleAnswer, installed},
	"no language of Setup":               {installed, "<SetupUILanguage>\n        <UILanguage>${language}</UILanguage>\n      </SetupUILanguage>", "", ruleAnswer, installed},
	"Windows onto the MSR partition":     {installed, "<PartitionID>3</PartitionID>%{ else", "<PartitionID>2</PartitionID>%{ else", ruleAnswer, installed},
	"Windows onto the EFI partition":     {installed, "<PartitionID>3</PartitionID>%{ else", "<PartitionID>1</PartitionID>%{ else", ruleAnswer, installed},
	"Windows onto no partition":          {installed, "<PartitionID>3</PartitionID>%{ else", "<PartitionID>4</PartitionID>%{ else", ruleAnswer, installed},
	"an EFI partition with NTFS":         {installed, "<Format>FAT32", "<Format>NTFS", ruleAnswer, installed},
	"an EFI partition of 10 MB":          {installed, "<Size>300", "<Size>10", ruleAnswer, installed},
	"an EFI partition that isn't first":  {installed, "<Type>EFI</Type>\n              <Size>300</Size>\n            </CreatePartition>\n            <CreatePartition wcm:action=\"add\">\n              <Order>2</Order>\n              <Type>MSR</Type>", "<Type>MSR</Type>\n              <Size>300</Size>\n            </CreatePartition>\n            <CreatePartition wcm:action=\"add\">\n              <Order>2</Order>\n              <Type>EFI</Type>", ruleAnswer, installed},
	"a disk that isn't wiped":            {installed, "<WillWipeDisk>true", "<WillWipeDisk>false", ruleAnswer, installed},
	"no edition":                         {installed, "<Key>/IMAGE/${image_key}</Key>", "", "", ""},
	"an edition of 2019":                 {vars, "Windows Server 2022 SERVERSTANDARDCORE", "Windows Server 2019 SERVERSTANDARDCORE", ruleAnswer, "2019"},
	"an edition of another release":      {vars, "Windows Server 2022 SERVERSTANDARDCORE", "Windows Server 2025 SERVERSTANDARDCORE", ruleAnswer, "2025"},
	"logged on by itself":                {sealed, "<Enabled>false", "<Enabled>true", ruleAnswer, sealed},
	"logged on by a script":              {of + "seal.ps1", "-Name 'AutoAdminLogon' -Value '0'", "-Name 'AutoAdminLogon' -Value '1'", ruleLeft, "AutoAdminLogon"},
	"SkipRearm":                          {sealed, "<PersistAllDeviceInstalls>", "<SkipRearm>1</SkipRearm><PersistAllDeviceInstalls>", ruleLeft, "SkipRearm"},
	"dockerd registers itself":           also(`& 'C:\docker\dockerd.exe' --register-service`, ruleStep, "container-runtime"),
	"containerd registers itself":        also(`Start-Process -FilePath "$env:ProgramFiles\containerd\containerd.exe" -ArgumentList '--register-service' -Wait`, ruleStep, "container-runtime"),
	"a service containerd":               also(`New-Service -Name containerd -BinaryPathName 'C:\containerd.exe --run-service'`, ruleStep, "container-runtime"),
	"a service docker by splatting":      also("$p = @{ Name = 'docker'; BinaryPathName = 'C:\\d.exe' }\nNew-Service @p", ruleStep, "container-runtime"),
	"a service containerd by sc":         also(`cmd /c "sc create containerd binPath= C:\c.exe"`, ruleStep, "container-runtime"),
	"docker by choco":                    also("choco install -y docker-engine", ruleStep, "container-runtime"),
	"docker by Install-Package":          also("Install-Package -Name Docker -ProviderName DockerMsftProvider -RequiredVersion 1", ruleStep, "container-runtime"),
	"docker by winget":                   also("winget install --id Docker.DockerCLI", ruleStep, "container-runtime"),
	"containerd by nssm":                 also(`nssm.exe install containerd C:\c.exe`, ruleStep, "container-runtime"),
	"docker by an encoded command":       also("powershell -EncodedCommand YwBoAG8AYwBvACAAaQBuAHMAdABhAGwAbAAgAGQAbwBjAGsAZQByAA==", ruleStep, "container-runtime"),
	"a service csiproxy":                 also(`sc.exe create csiproxy binPath= 'C:\k\csi-proxy.exe -windows-service'`, ruleStep, "csi-proxy"),
	"csi-proxy under a name of its own":  also(`New-Service -Name my-csi -BinaryPathName 'C:\k\csi-proxy.exe'`, ruleStep, "csi-proxy"),
	"WinRM without encryption":           also(`winrm set winrm/config/service '@{AllowUnencrypted="true"}'`, "template.winrm", ""),
	"WinRM without encryption, by WSMan": also(`Set-Item WSMan:\localhost\Service\AllowUnencrypted $true`, "template.winrm", ""),
	"WinRM over plain HTTP":              {image, "winrm_use_ssl            = true", "winrm_use_ssl = false", "", ""},
	"a second download":                  also("Invoke-WebRequest https://example.com/a.zip -OutFile a.zip\nif ((Get-FileHash a.zip).Hash -ne 'x') { throw 1 }\nInvoke-WebRequest https://example.com/b.zip -OutFile b.zip", ruleDownload, ""),
	"a sum that nothing is held to":      also("curl.exe -o a.zip https://example.com/a.zip\nGet-FileHash a.zip | Write-Output", ruleDownload, ""),
	"a sum after the file is run":        also("$f = 'C:\\a.exe'\nStart-BitsTransfer https://example.com/a.exe $f\n& $f /S\nif ((Get-FileHash $f).Hash -ne 'x') { throw 1 }", ruleDownload, ""),
	"a download that is run":             also("iwr https://example.com/install.ps1 -useb | iex", ruleDownload, ""),
	"a download by WebClient":            also("(New-Object Net.WebClient).DownloadFile('https://example.com/a', 'C:\\a')", ruleDownload, ""),
	"a download by certutil":             also("certutil -urlcache -f https://example.com/a C:\\a", ruleDownload, ""),
	"a module, the newest":               also("Install-Module PSWindowsUpdate -Force", ruleDownload, ""),
	"hardware version 15":                {image, "= var.hardware_version", "= 15", "template.guest-id", ""},
	"an account that stays":              also("net user packer Pa55 /add", ruleLeft, "packer"),
	"an account that stays, by cmdlet":   also("New-LocalUser -Name vagrant -NoPassword", ruleLeft, "vagrant"),
	"exit codes that hide failures":      {image, `script            = "${path.root}/scripts/updates.ps1"`, "script = \"${path.root}/scripts/updates.ps1\"\n valid_exit_codes = [0, 1]", "template.updates", ""},
	"errors of updates passed over":      {of + "updates-left.ps1", "", "Install-WindowsUpdate -AcceptAll -ErrorAction SilentlyContinue\n", "template.updates", "updates-left"},
	"a catch that goes on":               {of + "updates-left.ps1", "", "try { Install-WindowsUpdate -AcceptAll } catch { Write-Output $_ }\n", "template.updates", "updates-left"},
	"a result that is only printed":      {of + "updates-left.ps1", "", "$s = New-Object -ComObject Microsoft.Update.Session\n$r = $s.CreateUpdateInstaller().Install()\nWrite-Output $r.ResultCode\n", "template.updates", "updates-left"},
	"a task that nobody asks":            {of + "updates-left.ps1", "", "$a = New-ScheduledTaskAction -Execute powershell.exe -Argument '-Command Install-WindowsUpdate -AcceptAll'\nRegister-ScheduledTask -TaskName u -Action $a\nStart-ScheduledTask u\n", "template.updates", "updates-left"},
	"an account of an answer file":       {sealed, "<UserAccounts>", "<UserAccounts><LocalAccounts><LocalAccount wcm:action=\"add\"><Name>vagrant</Name></LocalAccount></LocalAccounts>", ruleLeft, "vagrant"},
	"a public key":                       {of + "ssh-access.ps1", "$keys = @(", "$extra = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAAAAAAAAAAAAAA ci@example.com'\n$keys = @(", "template.key", ""},
	"a password as a default":            {vars, "variable \"admin_password\" {\n", "variable \"admin_password\" {\n  default = \"S3cr3t0!\"\n", "template.secret", ""},
	"a clone without a commit":           also("git clone https://github.com/example/tools.git C:\\tools", ruleDownload, "features.ps1"),
	"a clone of a tag":                   also("git clone -b v1.2.3 https://github.com/example/tools.git\ngit -C tools checkout v1.2.3", ruleDownload, "features.ps1"),
	"a password in net use":              also(`net use Z: \\files\share Pa55word1x /user:builder`, "template.secret", "features.ps1"),
	"a password in netdom":               also(`netdom join winbake-build /domain:corp /userd:builder /passwordd:Pa55word1x`, "template.secret", "features.ps1"),
	"a password in Autologon":            also(`& C:\tools\Autologon64.exe Administrator corp Pa55word1x /accepteula`, "template.secret", "features.ps1"),
	"no key for EFI's CD":                {image, "= var.boot_command", "= []", "template.boot", ""},
	"an encoded script that is broken":   also("powershell -EncodedCommand aQBmACAAKAAkAGEAIAB7AH0A", ruleScript, "features.ps1"),
	"a drive letter in an encoded one":   also("powershell -EncodedCommand JgAgAEQAOgBcAHMAZQB0AHUAcAAuAGUAeABlACAALwBTAA==", "template.letter", "features.ps1"),
	"an account by execute_command":      {image, `script            = "${path.root}/scripts/updates.ps1"`, "execute_command = \"powershell -Command \\\"net user packer Pa55 /add; . {{.Path}}\\\"\"\nscript = \"${path.root}/scripts/updates.ps1\"", ruleLeft, "packer"},
	"a fixed drive letter":               also(`& D:\setup64.exe /S`, "template.letter", ""),
}

// outOfReach are faults that aren't found here, with the reason.
var outOfReach = map[string]string{
	"the client of openssh": "the zip installs the server as well, and which of both runs is only known in the build",
	"sshd isn't automatic":  "ssh-access.ps1 sets it too",
	"no edition":            "a key that isn't known may be the index",
	"WinRM over plain HTTP": "the communicator is a variable, and SSH by default",
}

var rendered = sync.OnceValues(func() (*template.Folder, error) {
	return template.Render(template.Options{Platform: "vsphere-iso", WithoutPayload: true})
})

// put writes the template with a fault in it.
func (s seeded) put(t *testing.T) string {
	t.Helper()
	folder, err := rendered()
	if err != nil {
		t.Fatal(err)
	}
	dir, changed := t.TempDir(), false
	for _, f := range folder.Files {
		text := string(f.Data)
		if f.Path == s.file {
			changed = s.old == "" || strings.Contains(text, s.old)
			switch {
			case s.new == "-":
				continue
			case s.old == "":
				text = s.new
			case s.new == "<#": // cut
				text, _, _ = strings.Cut(text, s.old)
			default:
				text = strings.ReplaceAll(text, s.old, s.new)
			}
		}
		name := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !changed {
		t.Fatalf("%s has no %q", s.file, s.old)
	}
	return dir
}

// TestSeededFaults: each fault is found by the rule for it, and the template
// without one gives none.
func TestSeededFaults(t *testing.T) {
	if len(faults) < 80 {
		t.Errorf("%d faults", len(faults))
	}
	found := 0
	for name, s := range faults {
		t.Run(name, func(t *testing.T) {
			all := check(t, s.put(t), Options{})
			bad := slices.DeleteFunc(all, func(f finding.Finding) bool { return f.Severity <= finding.Info })
			hit := slices.ContainsFunc(bad, func(f finding.Finding) bool { return f.ID == s.id && strings.Contains(f.Object, s.object) })
			switch {
			case outOfReach[name] != "" && len(bad) > 0:
				t.Errorf("it is found now: %+v", bad)
			case outOfReach[name] == "" && !hit:
				t.Errorf("want %s of %q, have %+v", s.id, s.object, bad)
			case hit:
				found++
			}
		})
	}
	t.Logf("%d faults, found %d, neither %d", len(faults), found, len(outOfReach))
}
