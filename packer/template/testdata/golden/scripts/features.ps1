# The Containers feature. Without it the node would restart once more when it
# joins.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\features.log' | Out-Null

trap {
    Write-Output "features failed: $_"
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

$result = Install-WindowsFeature -Name 'Containers'
if (-not $result.Success) {
    throw "the feature Containers wasn't installed: $($result.ExitCode)"
}
Write-Output "Containers: $($result.ExitCode)"

Stop-Transcript | Out-Null
exit 0
