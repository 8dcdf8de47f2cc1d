package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// cloned is a build of a clone with these blocks in it.
func cloned(blocks string) map[string]string {
	return map[string]string{"w.pkr.hcl": sourced("vsphere-clone", "communicator = \"winrm\"") + "build {\n  sources = [\"source.vsphere-clone.a\"]\n" + blocks + "\n}\n"}
}

// ran is a step of PowerShell with more attributes, and what is behind it.
func ran(script, more, behind string) map[string]string {
	files := cloned("  provisioner \"powershell\" {\n    script = \"a.ps1\"\n" + more + "\n  }\n" + behind)
	files["a.ps1"] = script + "\n"
	return files
}

// TestMistakes: faults that Packer and Windows pass over in silence, each beside what is
// like it and right.
func TestMistakes(t *testing.T) {
	const open = "New-NetFirewallRule -DisplayName k -Direction Inbound -Protocol TCP -LocalPort 10250 -Action Allow\n"
	const step, restart = "  provisioner \"powershell\" {\n    inline = [\"Write-Output a\"]\n  }\n", "  provisioner \"windows-restart\" {}\n"
	const sysprep = `C:\Windows\System32\Sysprep\sysprep.exe /generalize /oobe /quit /quiet`
	script := func(text string) map[string]string { return ran(text, "", "") }
	keyed := func(then string) map[string]string {
		return script("$key | Set-Content C:\\ProgramData\\ssh\\administrators_authorized_keys\nicacls C:\\ProgramData\\ssh\\administrators_authorized_keys /inheritance:r /grant 'Administrators:F' /grant 'SYSTEM:F'\n" + then)
	}
	named := func(word string) map[string]string { return ran("Write-Output a", word, "") }
	source := func(kind, body string) map[string]string { return map[string]string{"w.pkr.hcl": sourced(kind, body)} }
	edition := func(name string) map[string]string {
		return map[string]string{"w.pkr.hcl": sourced("vsphere-iso", "") + "variable \"image\" {\n  default = \"" + name + "\"\n}\n"}
	}
	escaped := func(text string) map[string]string {
		return cloned("  provisioner \"powershell\" {\n" + text + "\n  }\n")
	}
	inJSON := func(text string) map[string]string {
		return map[string]string{"w.pkr.json": `{"source": {"qemu": {"a": {}}}, "build": {"sources": ["source.qemu.a"], "provisioner": {"file": {"destination": "` + text + `"}}}}`}
	}
	for name, c := range map[string]struct {
		files map[string]string
		id    string
		says  string // what is found begins so, "" for nothing of the rule
	}{
		"sc in PowerShell":                   {script("sc config sshd start= auto"), ruleScript, "sc config sshd"},
		"sc stop in PowerShell":              {script("sc stop sshd"), ruleScript, "sc stop sshd"},
		"sc.exe":                             {script("sc.exe config sshd start= auto"), ruleScript, ""},
		"sc in cmd":                          {script(`cmd /c "sc stop sshd"`), ruleScript, ""},
		"sc as it is":                        {script("sc C:\\a.txt 'start=auto'\nsc -Path start -Value 1"), ruleScript, ""},
		"a path with a space":                {script(`C:\Program Files\agent\setup.exe /S`), ruleScript, `a program C:\Program`},
		"a path with a space in cmd":         {script(`cmd /c C:\Program Files\agent\setup.exe /S`), ruleScript, `a program C:\Program`},
		"a path in quotes":                   {script(`& 'C:\Program Files\agent\setup.exe' /S`), ruleScript, ""},
		"msiexec without quotes":             {script(`Start-Process msiexec.exe -ArgumentList '/i C:\Program Files\a.msi /qn' -Wait`), ruleScript, "msiexec with a path"},
		"msiexec with quotes":                {script(`Start-Process msiexec.exe -ArgumentList '/i "C:\Program Files\a.msi" /qn' -Wait`), ruleScript, ""},
		"a tab in a path":                    {escaped(`    inline = ["C:\\tools\\a.exe C:\temp\\b"]`), "template.hcl", `C:\temp isn't a path`},
		"a carriage return in a path":        {escaped(`    inline = ["copy D:\runtime\\a.exe C:\\"]`), "template.hcl", `D:\runtime isn't a path`},
		"backslashes in a path":              {escaped(`    inline = ["C:\\temp\\new.exe", "a:\nb", "C:\\new\tfast", "cd /d D:\ndir", "${1}:\ntext"]`), "template.hcl", ""},
		"backslashes in a heredoc":           {escaped("    inline = [<<E\nC:\\temp\\new.exe\nE\n]"), "template.hcl", ""},
		"backslashes in a comment":           {escaped("    # \"C:\\temp\"\n    inline = [\"a\"]"), "template.hcl", ""},
		"a tab in JSON":                      {inJSON(`C:\temp`), "template.hcl", `C:\temp isn't a path`},
		"a line's end in a path":             {escaped(`    inline = ["copy a.exe C:\node\\bin\\a.exe"]`), "template.hcl", `C:\node\\bin isn't a path`},
		"a line's end, and slashes":          {escaped(`    inline = ["copy a.exe C:\node/a.exe"]`), "template.hcl", `C:\node/a.exe isn't a path`},
		"a path alone":                       {escaped(`    destination = "C:\nssm.exe"`), "template.hcl", `C:\nssm.exe isn't a path`},
		"a line's end in JSON":               {inJSON(`C:\nssm.exe`), "template.hcl", `C:\nssm.exe isn't a path`},
		"a form feed in JSON":                {inJSON(`C:\files`), "template.hcl", `C:\files isn't a path`},
		"the end of a line":                  {escaped(`    inline = ["cd C:\nnssm.exe install a", "cd C:\ndir", "C:\ndir /s", "dir C:\\k\nC:\\k\\a.exe"]`), "template.hcl", ""},
		"the end of a line in JSON":          {inJSON(`cd C:\ndir`), "template.hcl", ""},
		"backslashes in JSON":                {inJSON(`C:\\temp`), "template.hcl", ""},
		"only of a slip":                     {named(`only = ["vsphere-clone.b"]`), ruleScript, `only names "vsphere-clone.b"`},
		"only of a reference":                {named(`only = ["source.vsphere-clone.a"]`), ruleScript, `only names "source.vsphere-clone.a"`},
		"except of a slip":                   {named(`except = ["vsphere-clone.b"]`), ruleScript, `except names "vsphere-clone.b"`},
		"only":                               {named(`only = ["vsphere-clone.a"]`), ruleScript, ""},
		"only of another builder":            {named(`only = ["qemu.a", "vsphere-clone.a"]`), ruleScript, ""},
		"only of a build's own":              {cloned("  source \"source.vsphere-clone.a\" {\n    name = \"b\"\n    vm_name = \"c\"\n  }\n  provisioner \"powershell\" {\n    inline = [\"a\"]\n    only = [\"vsphere-clone.b\"]\n  }\n"), ruleScript, ""},
		"an edition with a slip":             {edition("Windows Server 2022 SERVERSTANDARTCORE"), ruleAnswer, "the edition"},
		"an edition":                         {edition("Windows Server 2022 SERVERDATACENTERCORE"), ruleAnswer, ""},
		"an edition by its title":            {edition("Windows Server 2022 Standard (Desktop Experience)"), ruleAnswer, ""},
		"an edition of Azure":                {edition("Windows Server 2022 SERVERTURBINE"), ruleAnswer, ""},
		"HTTP's port with HTTPS":             {source("vsphere-clone", "communicator = \"winrm\"\nwinrm_use_ssl = true\nwinrm_port = 5985"), "template.reach", "winrm_port = 5985"},
		"HTTPS' port with HTTP":              {source("vsphere-clone", "communicator = \"winrm\"\nwinrm_use_ntlm = true\nwinrm_port = \"5986\""), "template.reach", "winrm_port = 5986"},
		"HTTPS' port":                        {source("vsphere-clone", "communicator = \"winrm\"\nwinrm_use_ssl = true\nwinrm_port = 5986"), "template.reach", ""},
		"a port that is given":               {source("vsphere-clone", "communicator = \"winrm\"\nwinrm_use_ssl = true\nwinrm_port = var.p\n}\nvariable \"p\" {"), "template.reach", ""},
		"a shell of Unix":                    {cloned("  provisioner \"shell\" {\n    inline = [\"ls\"]\n  }\n"), "template.reach", "provisioner shell"},
		"a shell that is told":               {cloned("  provisioner \"shell\" {\n    inline = [\"ls\"]\n    execute_command = \"powershell {{.Path}}\"\n  }\n"), "template.reach", ""},
		"a restart in a step":                {ran("Restart-Computer -Force", "", step), "template.reach", "restart-computer restarts"},
		"a restart by a feature":             {ran("Install-WindowsFeature Hyper-V -Restart", "", step), "template.reach", "install-windowsfeature restarts"},
		"a restart by shutdown":              {ran("shutdown.exe -r -t 0", "", step), "template.reach", "shutdown restarts"},
		"a restart that Packer waits for":    {ran("Restart-Computer -Force", "", restart+step), "template.reach", ""},
		"a restart that it lets pass":        {ran("Restart-Computer -Force", "valid_exit_codes = [0, 2300218]", step), "template.reach", ""},
		"a restart with a pause behind it":   {ran("shutdown /r /t 5", "", strings.Replace(step, "inline", "pause_before = \"2m\"\n    inline", 1)), "template.reach", ""},
		"a feature without its restart":      {ran("Install-WindowsFeature Hyper-V -Restart:$false", "", step), "template.reach", ""},
		"a restart of windows-restart's":     {cloned("  provisioner \"windows-restart\" {\n    restart_command = \"shutdown /r /t 5\"\n  }\n" + step), "template.reach", ""},
		"a function that nothing calls":      {ran("function F { Restart-Computer }", "", step), "template.reach", ""},
		"sysprep that nothing waits for":     {script("& " + sysprep), "template.sysprep", "nothing waits for sysprep"},
		"sysprep started on its own":         {script("Start-Process C:\\Windows\\System32\\Sysprep\\sysprep.exe -ArgumentList '/generalize /oobe /quit'\nexit 0"), "template.sysprep", "nothing waits for sysprep"},
		"sysprep that is waited for":         {script("Start-Process C:\\Windows\\System32\\Sysprep\\sysprep.exe -ArgumentList '/generalize /oobe /quit' -Wait"), "template.sysprep", ""},
		"sysprep in a pipeline":              {script("& " + sysprep + " | Out-Null"), "template.sysprep", ""},
		"sysprep with a look at its state":   {ran("& "+sysprep, "", "  provisioner \"powershell\" {\n    inline = [\"while ((gp HKLM:/SOFTWARE/Microsoft/Windows/CurrentVersion/Setup/State).ImageState -ne 'x') { sleep 5 }\"]\n  }\n"), "template.sysprep", ""},
		"sysprep in cmd":                     {cloned("  provisioner \"windows-shell\" {\n    inline = [\"" + strings.ReplaceAll(sysprep, `\`, `\\`) + "\"]\n  }\n"), "template.sysprep", ""},
		"node files after sysprep":           {ran(sysprep+" | Out-Null", "", "  provisioner \"winbake-node\" {}\n"), "template.sysprep", "winbake-node runs after sysprep"},
		"a service after sysprep":            {ran(sysprep+" | Out-Null", "", "  provisioner \"powershell\" {\n    inline = [\"sc.exe create a binPath= C:/a.exe\"]\n  }\n"), "template.sysprep", "sc runs after sysprep"},
		"a service's state after sysprep":    {ran(sysprep+" | Out-Null", "", "  provisioner \"powershell\" {\n    inline = [\"sc.exe query a\"]\n  }\n"), "template.sysprep", ""},
		"a blocked port":                     {script(open + "New-NetFirewallRule -DisplayName b -Direction Inbound -Protocol TCP -LocalPort 10000-11000 -Action Block"), ruleStep, "the rule blocks the port"},
		"a blocked port of netsh":            {script("netsh advfirewall firewall add rule name=b dir=in action=block protocol=TCP localport=10250\n" + open), ruleStep, "the rule blocks the port"},
		"a blocked port for some":            {script(open + "New-NetFirewallRule -DisplayName b -Direction Inbound -Protocol TCP -LocalPort 10250 -RemoteAddress 192.0.2.0/24 -Action Block"), ruleStep, ""},
		"a blocked port of UDP":              {script(open + "New-NetFirewallRule -DisplayName b -Direction Inbound -Protocol UDP -LocalPort 10250 -Action Block"), ruleStep, ""},
		"a blocked port of others":           {script(open + "New-NetFirewallRule -DisplayName b -Direction Inbound -Protocol TCP -LocalPort 445 -Action Block"), ruleStep, ""},
		"a firewall without rules":           {script("Set-NetFirewallProfile -All -AllowInboundRules False"), ruleLeft, "the firewall passes over rules"},
		"a firewall with them":               {script("Set-NetFirewallProfile -All -AllowInboundRules False\nSet-NetFirewallProfile -All -AllowInboundRules True"), ruleLeft, ""},
		"Defender off":                       {script("Set-MpPreference -DisableRealtimeMonitoring $true"), ruleLeft, "Defender looks at no file"},
		"Defender off and on":                {script("Set-MpPreference -DisableRealtimeMonitoring $true\nSet-MpPreference -DisableRealtimeMonitoring $false"), ruleLeft, ""},
		"Defender passes over a folder":      {script(`Add-MpPreference -ExclusionPath C:\k`), ruleLeft, ""},
		"errors of Containers passed over":   {script("$ErrorActionPreference = 'SilentlyContinue'\nInstall-WindowsFeature Containers"), "template.updates", "$ErrorActionPreference passes over"},
		"errors of Containers by a catch":    {script("try { Enable-WindowsOptionalFeature -Online -FeatureName Containers -NoRestart } catch {}"), "template.updates", "what enable-windowsoptionalfeature fails with"},
		"errors of Containers that are seen": {script("try { Install-WindowsFeature Containers } catch { $bad = 1 }\nif ($bad) { exit 1 }"), "template.updates", ""},
		"Containers that is looked for":      {script("Install-WindowsFeature Containers -ErrorAction SilentlyContinue\nif (-not (Get-WindowsFeature Containers).Installed) { throw 'a' }"), "template.updates", ""},
		"dism's failure":                     {script("dism.exe /Online /Enable-Feature /FeatureName:Containers /All /NoRestart\nexit 0"), "template.updates", "what dism ends with"},
		"dism's failure on a line":           {script("dism /Online /Add-Capability /CapabilityName:OpenSSH.Server~~~~0.0.1.0; exit 0"), "template.updates", "what dism ends with"},
		"dism's failure in cmd":              {script("cmd /c \"dism /online /add-package /packagepath:C:\\a.msu & exit /b 0\""), "template.updates", "what dism ends with"},
		"dism, whose end is read":            {script("dism /Online /Enable-Feature /FeatureName:Containers\nif ($LASTEXITCODE -notin 0, 3010) { exit $LASTEXITCODE }\nexit 0"), "template.updates", ""},
		"dism, and a look at the feature":    {script("dism /Online /Enable-Feature /FeatureName:Containers\nif ((Get-WindowsOptionalFeature -Online -FeatureName Containers).State -ne 'Enabled') { throw 'a' }\nexit 0"), "template.updates", ""},
		"dism at the end":                    {script("if (Test-Path C:\\done) { exit 0 }\ndism /Online /Enable-Feature /FeatureName:Containers"), "template.updates", ""},
		"dism for another feature":           {script("dism /Online /Enable-Feature /FeatureName:TelnetClient\nexit 0"), "template.updates", ""},
		"a rule taken away by its name":      {script(open + "Remove-NetFirewallRule -DisplayName k"), ruleStep, "its rule is taken away again"},
		"a rule of a pattern":                {script(open + "Get-NetFirewallRule -DisplayName K* | Remove-NetFirewallRule"), ruleStep, "its rule is taken away again"},
		"a rule that is switched off":        {script(open + "Set-NetFirewallRule -DisplayName k -Enabled False"), ruleStep, "its rule is taken away again"},
		"a rule disabled":                    {script(open + "Disable-NetFirewallRule -DisplayName k"), ruleStep, "its rule is taken away again"},
		"a rule deleted by netsh":            {script("netsh advfirewall firewall add rule name=\"the kubelet\" dir=in action=allow protocol=TCP localport=10250\nnetsh advfirewall firewall delete rule name=\"the kubelet\""), ruleStep, "its rule is taken away again"},
		"a rule off by netsh":                {script(open + "netsh advfirewall firewall set rule name=k new enable=no"), ruleStep, "its rule is taken away again"},
		"the rule of the capability":         {script("Add-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0\nRemove-NetFirewallRule -Name OpenSSH-Server-In-TCP"), ruleStep, "its rule is taken away again"},
		"a rule made again":                  {script("Remove-NetFirewallRule -DisplayName k -ErrorAction SilentlyContinue\n" + open), ruleStep, ""},
		"another rule taken away":            {script(open + "Remove-NetFirewallRule -DisplayName 'Remote Desktop*'\nnetsh advfirewall firewall delete rule name=old\nSet-NetFirewallRule -DisplayName k -Enabled True"), ruleStep, ""},
		"one of two rules":                   {script(open + "New-NetFirewallRule -Name l -DisplayName l -Direction Inbound -Protocol TCP -LocalPort 10250 -Action Allow\nRemove-NetFirewallRule l"), ruleStep, ""},
		"a rule of a loop taken away":        {script("foreach ($r in @{ N = 'logs'; P = 10250 }, @{ N = 'metrics'; P = 9182 }) { New-NetFirewallRule -DisplayName $r.N -Direction Inbound -Protocol TCP -LocalPort $r.P -Action Allow }\nRemove-NetFirewallRule -DisplayName metrics"), ruleStep, "its rule is taken away again"},
		"a rule of netsh's loop":             {script("foreach ($p in 22, 10250) { netsh advfirewall firewall add rule name=\"n$p\" dir=in action=allow protocol=TCP localport=$p }\nnetsh advfirewall firewall delete rule name=n22\n" + strings.ReplaceAll(open, "10250", "22,9182")), ruleStep, ""},
		"a rule chosen by its name":          {script(open + "Get-NetFirewallRule | Where-Object { $_.Enabled -and $_.DisplayName -like 'k*' } | Remove-NetFirewallRule"), ruleStep, "its rule is taken away again"},
		"all rules but one":                  {script(open + "Get-NetFirewallRule | Where-Object { -not ($_.DisplayName -eq 'k') } | Remove-NetFirewallRule"), ruleStep, ""},
		"Containers chosen, and removed":     {script("Install-WindowsFeature Containers\nGet-WindowsFeature | Where-Object { $_.Name -in 'XPS-Viewer', 'Containers' } | Uninstall-WindowsFeature"), ruleStep, "it is taken away again"},
		"Containers chosen by a word":        {script("Install-WindowsFeature Containers\nGet-WindowsFeature | Where-Object Name -eq Containers | Uninstall-WindowsFeature"), ruleStep, "it is taken away again"},
		"others chosen, and removed":         {script("Install-WindowsFeature Containers\nGet-WindowsFeature | Where-Object { $_.Name -in 'XPS-Viewer', 'SNMP' } | Uninstall-WindowsFeature"), ruleStep, ""},
		"sshd for others":                    {keyed("Add-Content C:\\ProgramData\\ssh\\sshd_config 'AllowUsers packer'"), ruleStep, "sshd lets others in"},
		"sshd for another group":             {keyed("Add-Content C:\\ProgramData\\ssh\\sshd_config \"`nAllowGroups `\"openssh users`\"\""), ruleStep, "sshd lets others in"},
		"sshd for administrators":            {keyed("Add-Content C:\\ProgramData\\ssh\\sshd_config 'AllowGroups administrators \"openssh users\"'"), ruleStep, ""},
		"sshd for who is given":              {keyed("Add-Content C:\\ProgramData\\ssh\\sshd_config \"AllowUsers $users\""), ruleStep, ""},
		"sshd not for the administrator":     {keyed("Add-Content C:\\ProgramData\\ssh\\sshd_config 'DenyUsers guest administrator'"), ruleStep, "sshd refuses the administrator"},
		"sshd on another port":               {keyed("(Get-Content C:\\ProgramData\\ssh\\sshd_config) -replace '^#?Port 22$', 'Port 2222' | Set-Content C:\\ProgramData\\ssh\\sshd_config"), ruleStep, "sshd listens on another port"},
		"sshd on its port":                   {keyed("(Get-Content C:\\ProgramData\\ssh\\sshd_config) -replace '^#?Port .*', 'Port 22' | Set-Content C:\\ProgramData\\ssh\\sshd_config"), ruleStep, ""},
		"another file of keys":               {keyed("(Get-Content C:\\ProgramData\\ssh\\sshd_config) -replace '^Match Group administrators', '#Match Group administrators' | Set-Content C:\\ProgramData\\ssh\\sshd_config"), ruleStep, "sshd doesn't read"},
		"the file of keys for all":           {keyed("Set-Content C:\\ProgramData\\ssh\\sshd_config @'\nAuthorizedKeysFile __PROGRAMDATA__/ssh/administrators_authorized_keys\n#Match Group administrators\n'@"), ruleStep, ""},
		"the file of keys again":             {keyed("(Get-Content C:\\ProgramData\\ssh\\sshd_config) -replace '^#Match Group administrators', 'Match Group administrators' | Set-Content C:\\ProgramData\\ssh\\sshd_config"), ruleStep, ""},
		"sshd's folder removed":              {keyed("Remove-Item -Path C:\\ProgramData\\ssh -Recurse -Force"), ruleStep, "the file is removed"},
		"sshd's host keys removed":           {keyed("Remove-Item C:\\ProgramData\\ssh\\ssh_host_*"), ruleStep, ""},
		"the key file's rights reset":        {keyed("icacls C:\\ProgramData\\ssh\\administrators_authorized_keys /reset"), ruleStep, "the key file keeps the rights"},
		"a policy that renames":              {script("Set-Content C:\\h.inf \"[System Access]`r`nNewAdministratorName = `\"sysadm`\"\"\nsecedit /configure /db C:\\h.sdb /cfg C:\\h.inf"), ruleStep, "the administrator is disabled"},
		"a policy that disables":             {script("Set-Content C:\\h.inf 'EnableAdminAccount = 0'\nsecedit /configure /db C:\\h.sdb /cfg C:\\h.inf"), ruleStep, "the administrator is disabled"},
		"a policy of passwords":              {script("Set-Content C:\\h.inf \"MinimumPasswordLength = 14`r`nNewAdministratorName = `\"Administrator`\"`r`nEnableAdminAccount = 1\"\nsecedit /configure /db C:\\h.sdb /cfg C:\\h.inf"), ruleStep, ""},
		"the administrator by its SID":       {script("Get-LocalUser | Where-Object { $_.SID -like 'S-1-5-*-500' } | Disable-LocalUser"), ruleStep, "the administrator is disabled"},
		"another name by WMI":                {script("$a = Get-WmiObject Win32_UserAccount -Filter \"Name='Administrator'\"\n$a.Rename('sysadm')"), ruleStep, "the administrator is disabled"},
		"the guest by its SID":               {script("Get-LocalUser | Where-Object { $_.SID -like 'S-1-5-*-501' } | Disable-LocalUser"), ruleStep, ""},
		"the network's service":              {script("foreach ($n in 'Spooler', 'Dhcp') { Set-Service $n -StartupType Disabled }"), ruleStep, "the service dhcp is disabled"},
		"rules of a policy alone":            {script(`reg add "HKLM\SOFTWARE\Policies\Microsoft\WindowsFirewall\PublicProfile" /v AllowLocalPolicyMerge /t REG_DWORD /d 0 /f`), ruleLeft, "the firewall passes over rules"},
		"rules of both":                      {script(`Set-ItemProperty HKLM:\SOFTWARE\Policies\Microsoft\WindowsFirewall\PublicProfile -Name AllowLocalPolicyMerge -Value 1`), ruleLeft, ""},
		"msiexec alone":                      {script("msiexec /i C:\\a.msi /qn"), ruleScript, "nothing waits for msiexec"},
		"msiexec, started":                   {script("Start-Process msiexec.exe -ArgumentList '/i C:\\a.msi /qn'"), ruleScript, "nothing waits for msiexec"},
		"msiexec, waited for":                {script("Start-Process msiexec.exe -ArgumentList '/i C:\\a.msi /qn' -Wait"), ruleScript, ""},
		"msiexec, waited for by a pipe":      {script("msiexec /i C:\\a.msi /qn | Out-Null"), ruleScript, ""},
		"msiexec in cmd":                     {script(`cmd /c "msiexec /i C:\a.msi /qn"`), ruleScript, ""},
		"msiexec, and a loop":                {script("$p = Start-Process msiexec '/i C:\\a.msi /qn' -PassThru\nwhile (-not $p.HasExited) { [Threading.Thread]::Yield() }"), ruleScript, ""},
		"a domain":                           {script("Add-Computer -DomainName corp.example.com -Credential $c"), ruleLeft, "the machine that the image is made of joins a domain"},
		"a domain by netdom":                 {script("netdom join $env:COMPUTERNAME /domain:corp.example.com"), ruleLeft, "the machine that the image is made of joins a domain"},
		"a workgroup":                        {script("Add-Computer -WorkgroupName NODES"), ruleLeft, ""},
		"a static address":                   {script("New-NetIPAddress -InterfaceAlias Ethernet0 -IPAddress 10.0.0.5 -PrefixLength 24"), ruleLeft, "the build's static address stays"},
		"a static address by netsh":          {script("netsh interface ip set address name=\"Ethernet0\" static 10.0.0.5 255.255.255.0 10.0.0.1"), ruleLeft, "the build's static address stays"},
		"an address of the build's time":     {script("New-NetIPAddress -InterfaceAlias Ethernet0 -IPAddress 10.0.0.5 -PrefixLength 24\nSet-NetIPInterface -InterfaceAlias Ethernet0 -Dhcp Enabled"), ruleLeft, ""},
		"an address that is given":           {script("New-NetIPAddress -InterfaceAlias Ethernet0 -IPAddress $given -PrefixLength 24"), ruleLeft, ""},
		"errors of another feature":          {script("try { Install-WindowsFeature Web-Server } catch {}"), "template.updates", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var found []string
			for _, f := range check(t, writeFiles(t, c.files), Options{}) {
				if f.ID == c.id && (f.Severity == finding.Warn || f.Severity == finding.Block) {
					found = append(found, f.Observed)
				}
			}
			if c.says != "" && !slices.ContainsFunc(found, func(o string) bool { return strings.HasPrefix(o, c.says) }) {
				t.Errorf("want %q, have %q", c.says, found)
			}
			fine := []string{"files go by scp", "not there", "WinRM over plain HTTP", "no such file"}
			if found = slices.DeleteFunc(found, func(o string) bool {
				return slices.ContainsFunc(fine, func(f string) bool { return strings.HasPrefix(o, f) })
			}); c.says == "" && len(found) > 0 {
				t.Errorf("found: %q", found)
			}
		})
	}
}

// TestNullBesideImages: one of Packer's null builder makes no image that steps could be
// missing of.
func TestNullBesideImages(t *testing.T) {
	files := cloned("")
	files["w.pkr.hcl"] += sourced("null", "communicator = \"none\"") + "build {\n  sources = [\"source.null.a\"]\n  provisioner \"shell-local\" {\n    inline = [\"echo\"]\n  }\n}\n"
	for _, f := range check(t, writeFiles(t, files), Options{}) {
		if strings.Contains(f.Observed, "null.a") {
			t.Errorf("found: %+v", f)
		}
	}
}
