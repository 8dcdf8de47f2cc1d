# The last changes before sysprep. sshd isn't restarted: what is changed here
# counts from the next start on, and Packer may still have to come back.
# WINBAKE_PROXY is the build's proxy.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "seal failed: $_"; exit 1 }

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

# The cluster tells nodes their proxy.
if ($env:WINBAKE_PROXY) {
    Invoke-Program 'netsh.exe' @('winhttp', 'reset', 'proxy')
}
Remove-Item -Path 'C:\ProgramData\winbake\restarted.ps1' -Force -ErrorAction SilentlyContinue

$config = 'C:\ProgramData\ssh\sshd_config'
$lines = @(Get-Content -Path $config | Where-Object { $_ -notmatch '^\s*#?\s*PasswordAuthentication\s' })
Set-Content -Path $config -Value (@('PasswordAuthentication no') + $lines) -Encoding Ascii
$sshd = (Get-CimInstance -ClassName 'Win32_Service' -Filter "Name='sshd'").PathName.Trim('"')
Invoke-Program $sshd @('-t')

# Setup ran with the password that the build was given, and keeps its answers twice.
foreach ($file in 'C:\Windows\Panther\unattend.xml', 'C:\Windows\Panther\unattend-original.xml', 'C:\Windows\Panther\Unattend\unattend.xml') {
    if (Test-Path -Path $file) {
        Remove-Item -Path $file -Force
    }
}
$logon = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon'
Set-ItemProperty -Path $logon -Name 'AutoAdminLogon' -Value '0'
foreach ($value in 'DefaultPassword', 'AutoLogonCount') {
    Remove-ItemProperty -Path $logon -Name $value -ErrorAction SilentlyContinue
}

# One line: first-boot.ps1 removes the file that is being read.
$steps = @()
if (Test-Path -Path 'C:\ProgramData\winbake\first-boot.ps1') {
    $steps += 'powershell.exe -NoProfile -ExecutionPolicy Bypass -File C:\ProgramData\winbake\first-boot.ps1'
}
if (Get-Service -Name 'cloudbase-init' -ErrorAction SilentlyContinue) {
    $steps += 'sc.exe config cloudbase-init start= auto', 'sc.exe start cloudbase-init'
}
if ($steps) {
    New-Item -ItemType Directory -Force -Path 'C:\Windows\Setup\Scripts' | Out-Null
    Set-Content -Path 'C:\Windows\Setup\Scripts\SetupComplete.cmd' -Value ($steps -join ' & ') -Encoding Ascii
}

exit 0
