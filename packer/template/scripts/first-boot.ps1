# Runs once in each clone, before anybody can log on (SetupComplete.cmd): takes
# away what the build and sysprep left. The password in the answer file is
# replaced by one that nobody knows: SSH keys are the way in.
#prelude

foreach ($file in 'C:\Windows\Panther\unattend.xml', 'C:\Windows\System32\Sysprep\unattend.xml', 'C:\ProgramData\winbake\unattend.xml') {
    if (Test-Path -Path $file) {
        Remove-Item -Path $file -Force
    }
}

$bytes = New-Object -TypeName 'byte[]' -ArgumentList 32
$random = [System.Security.Cryptography.RandomNumberGenerator]::Create()
$random.GetBytes($bytes)
$secret = ConvertTo-SecureString -String ('aA1!' + [Convert]::ToBase64String($bytes)) -AsPlainText -Force
$administrator = Get-LocalUser | Where-Object { $_.SID.Value -like 'S-1-5-21-*-500' }
Set-LocalUser -SID $administrator.SID -Password $secret

$rule = Get-NetFirewallRule -Name 'winbake-winrm' -ErrorAction SilentlyContinue
if ($rule) {
    Get-ChildItem -Path 'WSMan:\localhost\Listener' |
        Where-Object { $_.Keys -contains 'Transport=HTTPS' } |
        Remove-Item -Recurse -Force
    Remove-NetFirewallRule -Name 'winbake-winrm'
}
Remove-Item -Path 'C:\Windows\Setup\Scripts\SetupComplete.cmd' -Force
