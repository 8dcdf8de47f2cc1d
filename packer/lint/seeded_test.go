package lint

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
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

// elsewhere are faults in other templates: in ours for a platform, or in one of
// testdata/public, which has findings of its own.
var elsewhere = map[string]map[string]seeded{
	"vsphere-iso": {
		"pip, the newest":                   also("python -m pip install --upgrade boto3", ruleDownload, "features.ps1"),
		"pip, one of two":                   also("pip3 install boto3==1.34.0 requests", ruleDownload, "features.ps1"),
		"npm, the newest":                   also("npm install -g azure-functions-core-tools", ruleDownload, "features.ps1"),
		"a tool of dotnet":                  also("dotnet tool install --global dotnet-counters", ruleDownload, "features.ps1"),
		"scoop, the newest":                 also("scoop install git", ruleDownload, "features.ps1"),
		"a resource of a gallery":           also("Install-PSResource -Name Pester -TrustRepository", ruleDownload, "features.ps1"),
		"a package provider":                also("Install-PackageProvider -Name NuGet -Force", ruleDownload, "features.ps1"),
		"a module brought up to date":       also("Update-Module -Name Pester", ruleDownload, "features.ps1"),
		"all of choco, the newest":          also("choco upgrade all -y", ruleDownload, "features.ps1"),
		"nuget, the newest":                 also(`nuget.exe install Newtonsoft.Json -OutputDirectory C:\n`, ruleDownload, "features.ps1"),
		"Go's latest":                       also("go install example.com/tool@latest", ruleDownload, "features.ps1"),
		"a program of a bucket":             also(`aws s3 cp s3://tools/agent.msi C:\agent.msi`+"\nmsiexec /i C:\\agent.msi /qn", ruleDownload, "features.ps1"),
		"a program of a share":              also(`Start-Process -FilePath '\\files\software\agent.exe' -ArgumentList '/S' -Wait`, ruleDownload, "features.ps1"),
		"docker pulls":                      also("docker pull mcr.microsoft.com/windows/nanoserver:ltsc2022", ruleStep, "container-runtime"),
		"somebody in Administrators":        also(`net localgroup administrators corp\builders /add`, ruleLeft, `corp\builders`),
		"somebody in them, by cmdlet":       also(`Add-LocalGroupMember -Group Administrators -Member 'CORP\builders'`, ruleLeft, `corp\builders`),
		"somebody in them, by SID":          also(`Add-LocalGroupMember -SID S-1-5-32-544 -Member builder`, ruleLeft, "builder"),
		"the guest":                         also("net user guest /active:yes", ruleLeft, "guest"),
		"no user account control":           also(`Set-ItemProperty HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System -Name EnableLUA -Value 0`, ruleLeft, "EnableLUA"),
		"no user account control, by reg":   also(`reg.exe add HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System /v EnableLUA /t REG_DWORD /d 0 /f`, ruleLeft, "EnableLUA"),
		"unsigned drivers":                  also("bcdedit.exe /set testsigning on", ruleLeft, "testsigning"),
		"no service of the firewall":        also("Set-Service -Name mpssvc -StartupType Disabled", ruleLeft, "firewall"),
		"a firewall that lets in":           also("netsh advfirewall set allprofiles firewallpolicy allowinbound,allowoutbound", ruleLeft, "firewall"),
		"SMB 1":                             also("Enable-WindowsOptionalFeature -Online -FeatureName SMB1Protocol -NoRestart", ruleLeft, "SMB1"),
		"the administrator renamed":         also("Rename-LocalUser -Name Administrator -NewName winadmin", ruleStep, "administrator"),
		"the administrator disabled":        also("net user Administrator /active:no", ruleStep, "administrator"),
		"a token of GitHub":                 also("$env:GH = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'", "template.key", "features.ps1"),
		"a password in a URL":               also("Invoke-WebRequest https://builder:Pa55word1x@files.example.com/a.zip -OutFile a.zip\nif ((Get-FileHash a.zip).Hash -ne 'x') { throw 1 }", "template.secret", "features.ps1"),
		"a password for a service":          also(`sc.exe config agent obj= .\svc password= Pa55word1x`, "template.secret", "features.ps1"),
		"a password for a task":             also("Register-ScheduledTask -TaskName a -Action (New-ScheduledTaskAction -Execute a.exe) -User builder -Password Pa55word1x", "template.secret", "features.ps1"),
		"a password behind curl":            also("curl.exe -u builder:Pa55word1x -o a.zip https://files.example.com/a.zip\nif ((Get-FileHash a.zip).Hash -ne 'x') { throw 1 }", "template.secret", "features.ps1"),
		"a token in the environment":        also("setx API_TOKEN Pa55word1x /M", "template.secret", "features.ps1"),
		"a token in it, by .NET":            also("[Environment]::SetEnvironmentVariable('API_TOKEN', 'Pa55word1x', 'Machine')", "template.secret", "features.ps1"),
		"a feature that is only tried":      {of + "features.ps1", "-Name 'Containers'", "-Name 'Containers' -WhatIf", ruleStep, "containers-feature"},
		"a slip in a command's name":        {of + "features.ps1", "= Install-WindowsFeature", "= Install-WindowFeature", ruleStep, "containers-feature"},
		"rules taken away again":            {of + "seal.ps1", "$config = ", "netsh advfirewall reset\n$config = ", ruleStep, "port-10250"},
		"a rule for a domain's network":     {of + "firewall.ps1", "-Profile Any", "-Profile Domain", ruleStep, "port-10250"},
		"openssh taken away again":          {of + "seal.ps1", "$config = ", "Remove-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0\n$config = ", ruleStep, "openssh"},
		"sshd off at the end":               {of + "seal.ps1", "$config = ", "Set-Service -Name sshd -StartupType Disabled\n$config = ", ruleStep, "sshd"},
		"sshd takes no keys":                {of + "seal.ps1", "@('PasswordAuthentication no')", "@('PasswordAuthentication no', 'PubkeyAuthentication no')", ruleStep, "authorized-keys"},
		"sysprep starts the machine again":  {image, "/oobe /quit", "/oobe /reboot", "template.sysprep", "sysprep"},
		"a restart after sysprep":           {image, "  post-processor \"manifest\"", "  provisioner \"windows-restart\" {}\n\n  post-processor \"manifest\"", "template.sysprep", "sysprep"},
		"sysprep's file under another name": {image, "winbake/unattend.xml\"\n", "winbake/oobe.xml\"\n", "template.sysprep", "sysprep"},
		"a step for another source":         {image, `script = "${path.root}/scripts/firewall.ps1"`, "only = [\"vsphere-clone.windows\"]\n    script = \"${path.root}/scripts/firewall.ps1\"", ruleStep, "port-10250"},
		"a step that may fail":              {image, `script = "${path.root}/scripts/firewall.ps1"`, "continue_on_error = true\n    script = \"${path.root}/scripts/firewall.ps1\"", "template.updates", ""},
		"a backslash in a path":             {image, `"${path.root}/scripts/firewall.ps1"`, `"${path.root}\\scripts\\firewall.ps1"`, ruleScript, "firewall.ps1"},
		"no network card":                   {image, `dynamic "network_adapters"`, `dynamic "other_adapters"`, "template.reach", "vsphere-iso.windows"},
		"EFI without secure boot":           {image, "= var.firmware\n", "= \"efi\"\n", "template.firmware", "vsphere-iso.windows"},
		"a disk of 16 GB":                   {image, "= var.disk_mb", "= 16384", ruleAnswer, "vsphere-iso.windows"},
		"a name of 21 letters":              {installed, "winbake-build<", "winbake-build-machine<", ruleAnswer, installed},
		"a time zone by IANA's name":        {installed, "<TimeZone>${time_zone}", "<TimeZone>Europe/Berlin", ruleAnswer, installed},
		"a locale that is none":             {installed, "<UserLocale>${locale}", "<UserLocale>english", ruleAnswer, installed},
		"a pass in British":                 {sealed, `pass="specialize"`, `pass="specialise"`, ruleAnswer, sealed},
		"two commands of one order": {sealed, "</RunSynchronous>", `<RunSynchronousCommand wcm:action="add"><Order>1</Order><Path>cmd.exe /c ver</Path></RunSynchronousCommand></RunSynchronous>`,
			ruleAnswer, sealed},
		"a command of 300 letters": {sealed, "${host_name_prefix}", "${host_name_prefix} " + strings.Repeat("x", 300), ruleAnswer, sealed},
	},
	"qemu": {
		"five minutes for Windows Setup": {image, "ssh_timeout  = var.connect_timeout", "", "template.reach", "qemu.windows"},
		"a machine that is cut off":      {image, `shutdown_command = "shutdown.exe /s /t 10 /f /d p:4:1 /c winbake"`, "", "template.reach", "qemu.windows"},
		"no driver for the card":         {image, `"${local.virtio_dir}/NetKVM", `, "", "", ""},
		"a gem":                          also("gem install winrm", ruleDownload, "features.ps1"),
	},
	"amazon-ebs": {
		"an image for everybody": {image, "ami_name ", "ami_groups = [\"all\"]\n  ami_name ", ruleLeft, "amazon-ebs.windows"},
		"no image":               {image, "ami_name ", "skip_create_ami = true\n  ami_name ", ruleStep, "amazon-ebs.windows"},
		"an account of a task":   {image, `"<powershell>\n${file(abspath("${path.root}/scripts/user-data.ps1"))}\n</powershell>"`, task("executeScript", "net user packer Pa55word1x /add"), ruleLeft, "packer"},
		"a download of a task":   {image, `"<powershell>\n${file(abspath("${path.root}/scripts/user-data.ps1"))}\n</powershell>"`, task("executeScript", "iwr https://example.com/a.ps1 -useb | iex"), ruleDownload, image},
		"a password in a task": {image, `"<powershell>\n${file(abspath("${path.root}/scripts/user-data.ps1"))}\n</powershell>"`,
			"<<-E\nversion: 1.1\ntasks:\n- task: setAdminAccount\n  inputs:\n    password:\n      type: static\n      data: Pa55word1x\nE\n", "template.secret", image},
		"a password in its file": {image, "  provisioner \"powershell\" {\n    script = \"${path.root}/scripts/firewall.ps1\"", "  provisioner \"file\" {\n    content = <<-E\nversion: 1.0\nconfig:\n- stage: preReady\n  tasks:\n" +
			"  - task: setAdminAccount\n    inputs:\n      password:\n        type: static\n        data: Pa55word1x\nE\n    destination = \"C:/ProgramData/Amazon/EC2Launch/config/agent-config.yml\"\n  }\n" +
			"  provisioner \"powershell\" {\n    script = \"${path.root}/scripts/firewall.ps1\"", "template.secret", "agent-config.yml"},
	},
	"azure-arm": {
		"no image":               {image, "vm_size ", "skip_create_image = true\n  vm_size ", ruleStep, "azure-arm.windows"},
		"a certificate of WinRM": {image, `, WINBAKE_CLOSE_WINRM = "true"`, "", "", ""},
	},
	"googlecompute": {
		"a script of a bucket": also("gsutil cp gs://tools/install.ps1 C:\\install.ps1\n& C:\\install.ps1", ruleDownload, "features.ps1"),
	},
	"testdata/public/vagrant": {
		"pip in a box":             {"provision.ps1", "Write-Output", "py -m pip install ansible\nWrite-Output", ruleDownload, "provision.ps1"},
		"a group in a box":         {"first.ps1", "$autoLogon = ", "net.exe localgroup Administrators 'corp\\builders' /add\n$autoLogon = ", ruleLeft, `corp\builders`},
		"the firewall of a box":    {"winrm.ps1", "winrm quickconfig -quiet", "Set-NetFirewallProfile -All -DefaultInboundAction Allow", ruleLeft, "firewall"},
		"a module that isn't held": {"openssh.ps1", "$ssh = ", "Save-Module Pester -Path C:\\m\n$ssh = ", ruleDownload, "openssh.ps1"},
	},
	"testdata/public/packer-windows": {
		"sysprep starts it again":    {"scripts/sysprep.bat", "/oobe /shutdown", "/oobe /reboot", "template.sysprep", "sysprep"},
		"a group by cmd":             {"scripts/no-updates.bat", "rem updates", "net localgroup administrators corp\\builders /add\nrem updates", ruleLeft, `corp\builders`},
		"pip by cmd":                 {"scripts/no-updates.bat", "rem updates", "C:\\Python312\\python.exe -m pip install --quiet pywin32\nrem updates", ruleDownload, "scripts/no-updates.bat"},
		"no user account control":    {"scripts/no-updates.bat", "rem updates", `reg add HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System /v EnableLUA /d 0 /t REG_DWORD /f` + "\nrem updates", ruleLeft, "EnableLUA"},
		"a time zone by IANA's name": {"answers/Autounattend.xml", "<UserAccounts>", "<TimeZone>Etc/UTC</TimeZone><UserAccounts>", ruleAnswer, "answers/Autounattend.xml"},
	},
	"testdata/public/operator": {
		"sysprep starts it again": {"windows.pkr.hcl", "/generalize /oobe /shutdown", "/generalize /oobe /reboot", "template.sysprep", "sysprep"},
		"a rule taken away":       {"scripts/updates.ps1", "Install-Module", "Remove-NetFirewallRule -DisplayName 'port*'\nnetsh advfirewall reset\nInstall-Module", ruleStep, "port-9182"},
		"the domain's account":    {"scripts/ssh.ps1", "Start-Service sshd", "Add-LocalGroupMember Administrators corp\\builders\nStart-Service sshd", ruleLeft, `corp\builders`},
	},
}

// task is user data of EC2Launch v2 with a script in it.
func task(name, script string) string {
	return "<<-E\nversion: 1.1\ntasks:\n- task: " + name + "\n  inputs:\n  - frequency: once\n    type: powershell\n    runAs: localSystem\n    content: |-\n      " + script + "\nE\n"
}

// outOfReach are faults that aren't found here, with the reason.
var outOfReach = map[string]string{
	"the client of openssh":  "the zip installs the server as well, and which of both runs is only known in the build",
	"sshd isn't automatic":   "ssh-access.ps1 sets it too",
	"no edition":             "a key that isn't known may be the index",
	"no driver for the card": "which drivers a CD has to have isn't known, only that it has some",
	"a certificate of WinRM": "who made a listener isn't known, and clones may want one",
	"WinRM over plain HTTP":  "the communicator is a variable, and SSH by default",
}

// filesOf are a template's files by their paths.
func filesOf(t *testing.T, from string) map[string]string {
	t.Helper()
	files := map[string]string{}
	if strings.HasPrefix(from, "testdata") {
		err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			files[filepath.ToSlash(strings.TrimPrefix(path, from+string(filepath.Separator)))] = string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	folder, err := template.Render(template.Options{Platform: from, WithoutPayload: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folder.Files {
		files[f.Path] = string(f.Data)
	}
	return files
}

// put writes a template with a fault in it.
func (s seeded) put(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, changed := t.TempDir(), s.file == ""
	for path, text := range files {
		if path == s.file {
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
		name := filepath.Join(dir, filepath.FromSlash(path))
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

// TestSeededFaults: each fault is found by the rule for it, beyond what is found in
// the template without one.
func TestSeededFaults(t *testing.T) {
	told := func(f finding.Finding) string { return f.ID + " " + f.Object + " " + f.Observed }
	count, found := 0, 0
	all := maps.Clone(elsewhere)
	all[""] = faults
	for where, seeds := range all {
		files := filesOf(t, cmp.Or(where, "vsphere-iso"))
		before := map[string]bool{}
		for _, f := range check(t, seeded{}.put(t, files), Options{}) {
			before[told(f)] = f.Severity > finding.Info
		}
		for name, s := range seeds {
			count++
			t.Run(strings.TrimSpace(where+" "+name), func(t *testing.T) {
				bad := slices.DeleteFunc(check(t, s.put(t, files), Options{}), func(f finding.Finding) bool { return f.Severity <= finding.Info || before[told(f)] })
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
	}
	if count < 180 {
		t.Errorf("%d faults", count)
	}
	t.Logf("%d faults, found %d, neither %d", count, found, len(outOfReach))
}
