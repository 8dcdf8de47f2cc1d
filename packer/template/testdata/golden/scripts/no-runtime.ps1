# The operator brings containerd and fails on a node that has one already.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\no-runtime.log' | Out-Null

trap {
    Write-Output "no-runtime failed: $_"
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

foreach ($name in 'docker', 'containerd', 'com.docker.service') {
    if (Get-Service -Name $name -ErrorAction SilentlyContinue) {
        throw "the service $name is there, and the operator installs the container runtime itself: take it out of the base image"
    }
}

Stop-Transcript | Out-Null
exit 0
