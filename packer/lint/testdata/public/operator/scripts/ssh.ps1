param($keys = 'authorized_keys')
Add-WindowsCapability -Online -Name OpenSSH.Server~~~~0.0.1.0
Set-Service -Name sshd -StartupType Automatic
Set-Service -Name ssh-agent -StartupType Automatic
Start-Service sshd
$config = "$env:ProgramData\ssh\sshd_config"
(Get-Content $config) -replace '#PasswordAuthentication yes', 'PasswordAuthentication yes' | Set-Content $config
$file = "$env:ProgramData\ssh\administrators_authorized_keys"
Get-Content $keys | Out-File $file -Encoding ascii
$acl = Get-Acl $file
$acl.SetAccessRuleProtection($true, $false)
foreach ($who in 'Administrators', 'SYSTEM') {
    $acl.SetAccessRule((New-Object System.Security.AccessControl.FileSystemAccessRule($who, 'FullControl', 'Allow')))
}
$acl | Set-Acl
New-NetFirewallRule -DisplayName ssh -Direction Inbound -Protocol TCP -LocalPort 22 -Action Allow
