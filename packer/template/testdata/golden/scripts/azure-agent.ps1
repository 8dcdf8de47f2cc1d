# Azure's agents have to run before sysprep, or a machine made of the image
# never reports that it is up. The password of the built-in administrator must
# not expire either, for the same reason.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "azure-agent failed: $_"; exit 1 }

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

$deadline = (Get-Date).AddMinutes(15)
foreach ($name in 'RdAgent', 'WindowsAzureGuestAgent') {
    while ((Get-Service -Name $name).Status -ne 'Running') {
        if ((Get-Date) -gt $deadline) {
            throw "the service $name doesn't run"
        }
        Start-Sleep -Seconds 5
    }
}
Invoke-Program 'net.exe' @('accounts', '/maxpwage:unlimited')
foreach ($file in 'C:\Windows\System32\Sysprep\unattend.xml', 'C:\Windows\Panther\Unattend\unattend.xml') {
    if (Test-Path -Path $file) {
        Remove-Item -Path $file -Force
    }
}

exit 0
