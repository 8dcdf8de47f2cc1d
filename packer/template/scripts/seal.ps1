# The last changes before sysprep. sshd isn't restarted: what is changed here
# counts from the next start on, and Packer may still have to come back.
#prelude

$config = 'C:\ProgramData\ssh\sshd_config'
$lines = @(Get-Content -Path $config | Where-Object { $_ -notmatch '^\s*#?\s*PasswordAuthentication\s' })
Set-Content -Path $config -Value (@('PasswordAuthentication no') + $lines) -Encoding Ascii
$sshd = (Get-CimInstance -ClassName 'Win32_Service' -Filter "Name='sshd'").PathName.Trim('"')
Invoke-Program $sshd @('-t')

# Setup ran with the password that the build was given.
foreach ($file in 'C:\Windows\Panther\unattend.xml', 'C:\Windows\Panther\Unattend\unattend.xml') {
    if (Test-Path -Path $file) {
        Remove-Item -Path $file -Force
    }
}
$logon = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon'
Set-ItemProperty -Path $logon -Name 'AutoAdminLogon' -Value '0'
foreach ($value in 'DefaultPassword', 'AutoLogonCount') {
    Remove-ItemProperty -Path $logon -Name $value -ErrorAction SilentlyContinue
}

if (Test-Path -Path 'C:\ProgramData\winbake\first-boot.ps1') {
    New-Item -ItemType Directory -Force -Path 'C:\Windows\Setup\Scripts' | Out-Null
    $line = 'powershell.exe -NoProfile -ExecutionPolicy Bypass -File C:\ProgramData\winbake\first-boot.ps1'
    Set-Content -Path 'C:\Windows\Setup\Scripts\SetupComplete.cmd' -Value $line -Encoding Ascii
}
