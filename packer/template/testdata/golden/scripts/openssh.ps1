# The OpenSSH server: from a zip beside this script if there is one, whose
# sha256 has to be that of openssh.sum, else as a capability of Windows.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\openssh.log' | Out-Null

trap {
    Write-Output "openssh failed: $_"
    Stop-Transcript | Out-Null
    exit 1
}

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

$zip = Get-ChildItem -Path $PSScriptRoot -Filter '*.zip' | Where-Object { $_.Name -like 'openssh*' } | Select-Object -First 1

if (Get-Service -Name 'sshd' -ErrorAction SilentlyContinue) {
    Write-Output 'sshd is there'
}
elseif ($zip) {
    $want = (Get-Content -Path (Join-Path $PSScriptRoot 'openssh.sum') -TotalCount 1).Trim()
    $have = (Get-FileHash -Path $zip.FullName -Algorithm SHA256).Hash
    if ($have -ne $want) {
        throw "$($zip.Name) has the sha256 $have, and $want was asked for"
    }
    # A run that was cut short may have left either folder.
    Get-ChildItem -Path 'C:\Program Files' -Directory -Filter 'OpenSSH*' | Remove-Item -Recurse -Force
    Expand-Archive -Path $zip.FullName -DestinationPath 'C:\Program Files' -Force
    Get-ChildItem -Path 'C:\Program Files' -Directory -Filter 'OpenSSH-*' | Select-Object -First 1 | Rename-Item -NewName 'OpenSSH'
    Invoke-Program 'powershell.exe' @('-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', '"C:\Program Files\OpenSSH\install-sshd.ps1"')
}
else {
    Add-WindowsCapability -Online -Name 'OpenSSH.Server~~~~0.0.1.0' | Out-Null
}

foreach ($name in 'sshd', 'ssh-agent') {
    Set-Service -Name $name -StartupType Automatic
    Start-Service -Name $name
}
if (-not (Get-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -ErrorAction SilentlyContinue)) {
    New-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -DisplayName 'OpenSSH Server (sshd)' -Direction Inbound -Protocol TCP -LocalPort 22 -Action Allow | Out-Null
}
Set-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -Enabled True -Profile Any

Stop-Transcript | Out-Null
exit 0
