# What Windows Setup runs at the first logon, from the CD that autounattend.xml
# is on: drivers and tools first, since the network card may need them, then what
# the network asks for, and the service that Packer connects to.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\winbake.log' | Out-Null
trap {
    Write-Output "winbake failed: $_"
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

foreach ($name in 'tools.ps1', 'company.ps1', 'reach.ps1') {
    $script = Join-Path $PSScriptRoot $name
    if (Test-Path -Path $script) {
        Invoke-Program 'powershell.exe' @('-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', $script)
    }
}

Stop-Transcript | Out-Null
exit 0
