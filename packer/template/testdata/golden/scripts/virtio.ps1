# Drivers and the guest agent from the virtio-win CD, wherever it is.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\virtio.log' | Out-Null
trap {
    Write-Output "virtio failed: $_"
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

if (Get-Service -Name 'QEMU-GA' -ErrorAction SilentlyContinue) {
    Write-Output 'the guest agent is there'
}
else {
    $setup = Get-PSDrive -PSProvider FileSystem |
        ForEach-Object { Join-Path $_.Root 'virtio-win-guest-tools.exe' } |
        Where-Object { Test-Path -Path $_ } |
        Select-Object -First 1
    if (-not $setup) {
        throw 'no drive holds virtio-win-guest-tools.exe: is it on a CD of the machine?'
    }
    Invoke-Program $setup @('/install', '/quiet', '/norestart') @(0, 3010)
}
Set-Service -Name 'QEMU-GA' -StartupType Automatic

Stop-Transcript | Out-Null
exit 0
