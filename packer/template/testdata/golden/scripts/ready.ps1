# The folder of what is ours in the image. What lies there runs as SYSTEM in the
# clones, and below C:\ProgramData every user may make files.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "ready failed: $_"; exit 1 }

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

function Wait-Setup {
    $deadline = (Get-Date).AddMinutes(30)
    while ((Get-ItemProperty -Path 'HKLM:\SYSTEM\Setup').SystemSetupInProgress -ne 0) {
        if ((Get-Date) -gt $deadline) {
            throw 'Windows Setup is still at work after 30 minutes'
        }
        Start-Sleep -Seconds 5
    }
}

# A cloud's machine answers while Windows Setup specializes it, and would restart
# under the next step. When it does, Packer runs this again.
Wait-Setup

$folder = 'C:\ProgramData\winbake'
New-Item -ItemType Directory -Force -Path $folder | Out-Null
# Administrators and SYSTEM by their SIDs: names differ by language.
Invoke-Program 'icacls.exe' @($folder, '/inheritance:r', '/grant:r', '*S-1-5-32-544:(OI)(CI)F', '/grant:r', '*S-1-5-18:(OI)(CI)F')

exit 0
