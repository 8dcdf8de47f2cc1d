# What the updates left: superseded components and downloads, gigabytes in each clone.
# Nothing is uninstalled from an image, so components lose their older versions for
# good (https://learn.microsoft.com/windows-hardware/manufacture/desktop/clean-up-the-winsxs-folder).
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "clean failed: $_"; exit 1 }

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

Invoke-Program 'dism.exe' @('/Online', '/Cleanup-Image', '/StartComponentCleanup', '/ResetBase', '/Quiet') @(0, 3010)

Stop-Service -Name 'wuauserv' -Force
foreach ($folder in 'C:\Windows\SoftwareDistribution\Download', 'C:\Windows\Temp') {
    # Packer's own files are in use.
    Get-ChildItem -Path $folder -Force |
        Where-Object { $_.Name -notlike 'packer-*' -and $_.Name -notlike 'script-*' } |
        Remove-Item -Recurse -Force -ErrorAction SilentlyContinue
}

# A thin disk gives the room back. Not every hypervisor passes it on.
Optimize-Volume -DriveLetter C -ReTrim -ErrorAction SilentlyContinue
Write-Output "$((Get-Volume -DriveLetter C).SizeRemaining) bytes are free on C:"

exit 0
