package template

import (
	"regexp"
	"testing"
)

// TestScriptsDo holds the scripts to what was learned of Windows the hard way.
// Nothing here runs them: each row is a line without which something breaks
// that no test on Linux sees.
func TestScriptsDo(t *testing.T) {
	for _, row := range []struct{ script, why, line string }{
		{"ready", "every user may make files below C:\\ProgramData, and what lies here runs as SYSTEM", `icacls\.exe' @\(\$folder, '/inheritance:r'`},
		{"ready", "Windows Setup restarts a cloud's machine under the first step", `SystemSetupInProgress -ne 0`},
		{"first-boot", "a task that came too early leaves C: as it was until the next start", `extend-disk\.ps1'\) @\(0, 1\)`},
		{"updates", "a preview is installed by nobody who didn't ask for it", `BrowseOnly=0`},
		{"updates", "an update that asks somebody waits forever", `CanRequestUserInput`},
		{"updates", "nobody knows which update failed, and why", `(?s)GetUpdateResult\(\$i\).*0x\{1:X8\}.*\$one\.HResult.*Title`},
		{"updates", "Install fails as a whole over an update that wasn't downloaded", `(?s)\.Download\(\).*\.IsDownloaded.*\$installer\.Updates = \$whole`},
		{"updates", "a machine without Windows Update can't get past it", `WINBAKE_UPDATES -eq 'none'`},
		{"updates-left", "a failed update is no success", `throw "after all rounds Windows still lacks`},
		{"updates-left", "definitions of Defender are new again after an hour", `-contains \$definitions`},
		{"updates-left", "a search that broke off finds nothing", `\$search\.ResultCode -ne 2`},
		{"updates-left", "a machine without Windows Update can't get past it", `WINBAKE_UPDATES -eq 'none'`},
		{"openssh", "the script that Packer uploads isn't on the CD that the zip is on", `Get-PSDrive .*\$_\.Root.*\s+Where-Object .*openssh\.sum`},
		{"openssh", "a moment without network at first logon ends in four hours of waiting", `(?s)Get-NetRoute.*Get-DnsClientServerAddress.*Wait-Network\s+for \(.*Add-WindowsCapability.*catch .*\$try of .*Start-Sleep.*\n    Install-OpenSSH`},
		{"user-data", "a moment without network at first boot ends in an hour of waiting", `(?s)Wait-Network.*\nInstall-OpenSSH`},
		{"user-data", "the rule of Windows Server 2025 holds for private networks alone, and a cloud's is public", `Set-NetFirewallRule .*-Profile Any`},
		{"user-data", "Google's images have the administrator disabled", `Enable-LocalUser -SID`},
		{"company", "a server with a company's certificate isn't trusted", `'Root', 'LocalMachine'`},
		{"company", "an update server has no optional features", `'RepairContentServerSource' -Value 2`},
		{"restarted", "the next step meets a second restart", `(?s)RebootPending.*Test-Path.*shutdown\.exe.*'/r'.*Start-Sleep`},
		{"extend-disk", "a clone with a larger disk has C: as large as the image's", `(?s)-AtStartup.*SizeMax.*Resize-Partition -DriveLetter C`},
		{"extend-disk", "recovery tools behind C: keep it from growing", `(?s)'Recovery' -and \$_\.Offset -gt.*reagentc\.exe.*'/disable'.*Remove-Partition`},
		{"extend-disk", "the task has no script once Packer has removed its own", `Copy-Item -Path \$PSCommandPath -Destination \$own`},
		{"node-settings", "Windows restarts a node under its pods", `'NoAutoUpdate' -Value 1`},
		{"node-settings", "Windows Server without Defender has no such cmdlet", `(?s)Get-Command -Name 'Add-MpPreference'.*-ExclusionPath 'C:\\k'`},
		{"node-settings", "without a page file programs can't allocate", `AutomaticManagedPagefile`},
		{"clean", "3010 wants a restart and is no failure", `'/StartComponentCleanup'.*@\(0, 3010\)`},
		{"clean", "Packer's own scripts are in the folder that is emptied", `-notlike 'packer-\*'`},
		{"host-name", "the name is lost without a restart of Windows Setup", `(?s)Rename-Computer.*exit 1`},
		{"host-name", "first-boot.ps1 can't tell that the name was lost", `Set-Content -Path 'C:\\ProgramData\\winbake\\host-name\.txt'`},
		{"first-boot", "nobody sees that the name was lost", `(?s)Write-EventLog .*-EventId 110 -EntryType Error.*-ne \$wanted\) \{\s+Write-NameEvent`},
		{"first-boot", "nobody sees that no name was given", `-not \$wanted -and -not \(Get-Service -Name 'cloudbase-init' -ErrorAction SilentlyContinue\)\) \{\s+Write-NameEvent`},
		{"cloud-name", "nobody sees that a cloud's machine has another name", `(?s)Write-EventLog .*-EventId 110 -EntryType Error.*-ne \$wanted\) \{\s+Write-NameEvent`},
		{"cloud-name", "Google's name has its domain, and Windows' has 15 characters", `(?s)instance/hostname'.*Split\('\.'\)\[0\].*\[Math\]::Min\(15`},
		{"cloud-name", "Azure's metadata wants a header and a version", `osProfile/computerName\?api-version=2021-02-01&format=text' -Headers @\{ Metadata = 'true' \}`},
		{"cloud-name", "WMCO asks EC2 for the name without a token, and gets none where one is demanded", `(?s)if \(\$For -ne 'openshift'\) \{\s+\$headers.*api/token.*meta-data/local-hostname.*authentication: Optional`},
		{"cloud-name", "it asks while Windows Setup is about to restart for the name", `SystemSetupInProgress -ne 0`},
		{"cloud-name", "the task has no script once Packer has removed its own", `Copy-Item -Path \$PSCommandPath -Destination \$own`},
		{"cloud-name", "it runs in the build as well", `(?s)if \(\$env:WINBAKE_PROFILE\) \{\s+Register-FirstBoot.*?exit 0\s+\}.*?Wait-Setup`},
		{"cloud-locale", "Google's agent sets London's time in each machine", `(?s)Wait-Setup\s+Invoke-Program 'tzutil\.exe' @\('/s'`},
		{"cloud-locale", "the control panel ends with 0 where it has done nothing", `(?s)intl\.cpl,,/f:.*\.LocaleName\s+if \(\$has -ne \$Locale\) \{\s+throw`},
		{"seal", "cmd reads on in a file that first-boot.ps1 has removed", `\$steps -join ' & '`},
		{"seal", "nodes have the build's proxy", `'winhttp', 'reset', 'proxy'`},
		{"cluster-api", "kubeadm's arguments for the kubelet are lost", `kubeadm-flags\.env'`},
		{"cluster-api", "a kubelet that fails stays away", `'failure', 'kubelet', .*restart/`},
		{"cluster-api", "an image that no node can join with", `(?s)kubeadm\.exe'\)\) \{\s+throw`},
		{"image-check", "what is wrong with an image doesn't end its build", `(?s)\$LASTEXITCODE\s+if \(\$code -ne 0\) \{.*throw`},
		{"cloudbase-init", "an installer from anywhere", `\$have -ne \$env:WINBAKE_SUM`},
		{"cloudbase-init", "it runs in the build", `-StartupType Disabled`},
		{"generalize", "as SYSTEM it takes the Start menu of Windows Server 2025", `-LogonType S4U`},
		{"generalize", "Azure's clones listen with the build's certificate", `(?s)WINBAKE_CLOSE_WINRM.*Remove-Item -Path \$place -Recurse.*-DeleteKey`},
		{"windows-release", "Windows 11 has the build of Windows Server 2025", `InstallationType -notlike 'Server\*'`},
		{"windows-release", "settings don't tell the language that Windows was installed in", `InstalledUICulture`},
		{"openssh", "a zip from anywhere", `Get-FileHash`},
		{"openssh", "a run that was cut short leaves a folder that Rename-Item doesn't take", `(?s)Remove-Item -Recurse -Force.*Expand-Archive`},
		{"openssh", "the rule of Windows Server 2025 holds for private networks alone", `Set-NetFirewallRule .*-Profile Any`},
		{"ssh-access", "a file that was there keeps the rights it has", `(?s)icacls\.exe' @\(\$new.*Move-Item -Path \$new -Destination \$file -Force`},
		{"ssh-access", "without a key nobody gets in again", `throw 'WINBAKE_KEYS is empty`},
		{"vmware-tools", "3010 and 1641 want a restart and are no failures", `@\(0, 3010, 1641\)`},
		{"virtio", "3010 wants a restart and is no failure", `@\(0, 3010\)`},
		{"features", "the cmdlet reports a failure without an error", `-not \$result\.Success`},
		{"seal", "the build's answers stay, with its password", `'C:\\Windows\\Panther\\unattend-original\.xml'`},
		{"first-boot", "sysprep's answers stay, with its password", `'C:\\Windows\\Panther\\unattend-original\.xml'`},
		{"seal", "a wrong sshd_config locks everybody out", `Invoke-Program \$sshd @\('-t'\)`},
		{"seal", "the build's password stays in the registry", `'DefaultPassword'`},
		{"generalize", "a cloud's agent goes on when sysprep has ended", `while \(\(Get-ImageState\) -ne \$done -or \(Test-Running\)\)`},
		{"generalize", "a second try mustn't start a second sysprep", `-not \(Get-ScheduledTask -TaskName \$task`},
		{"generalize", "all machines show the same SSH host keys", `Remove-Item -Path 'C:\\ProgramData\\ssh\\ssh_host_\*'`},
		{"first-boot", "all clones show the same SSH host keys", `(?s)Stop-Service -Name 'sshd'.*ssh_host_\*.*Start-Service -Name 'sshd'`},
		{"first-boot", "WinRM's settings can only be reached while it runs", `(?s)Start-Service -Name 'WinRM'.*WSMan:`},
		{"first-boot", "logon in clear text stays allowed", `Auth\\Basic' -Value \$false`},
		{"first-boot", "the password in the answer file stays valid", `Set-LocalUser -SID`},
	} {
		text, err := new(render).script(row.script)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(row.line).Match(text) {
			t.Errorf("%s.ps1 has nothing like %q: %s", row.script, row.line, row.why)
		}
	}
}
