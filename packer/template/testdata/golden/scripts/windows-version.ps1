# The patch level that a node needs at least. WINBAKE_BUILD is such as 20348.681.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\windows-version.log' | Out-Null

trap {
    Write-Output "windows-version failed: $_"
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

$current = Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$have = New-Object -TypeName System.Version -ArgumentList ([int] $current.CurrentBuildNumber), ([int] $current.UBR)
$want = [version] $env:WINBAKE_BUILD
if ($have -lt $want) {
    throw "Windows build $have is older than $want, which containers need: take a newer ISO or base image, or see why Windows Update didn't bring it"
}
Write-Output "Windows build $have"

Stop-Transcript | Out-Null
exit 0
