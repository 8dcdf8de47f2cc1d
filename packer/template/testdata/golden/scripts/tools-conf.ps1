# An empty exclude-nics: by default VMware Tools hides the virtual cards that
# container networks make, and then nobody sees the address that the node has.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\tools-conf.log' | Out-Null

trap {
    Write-Output "tools-conf failed: $_"
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

$folder = 'C:\ProgramData\VMware\VMware Tools'
$file = Join-Path $folder 'tools.conf'
New-Item -ItemType Directory -Force -Path $folder | Out-Null

$lines = @()
if (Test-Path -Path $file) {
    $lines = @(Get-Content -Path $file | Where-Object { $_ -notmatch '^\s*#?\s*exclude-nics\s*=' })
}
$wanted = @()
$done = $false
foreach ($line in $lines) {
    $wanted += $line
    if ($line -match '^\s*\[guestinfo\]\s*$') {
        $wanted += 'exclude-nics='
        $done = $true
    }
}
if (-not $done) {
    $wanted += '[guestinfo]'
    $wanted += 'exclude-nics='
}
Set-Content -Path $file -Value $wanted -Encoding Ascii

$service = Get-Service -Name 'VMTools'
if ($service.StartType -ne 'Automatic' -or $service.Status -ne 'Running') {
    throw "VMTools is $($service.StartType) and $($service.Status), and has to be Automatic and Running"
}

Stop-Transcript | Out-Null
exit 0
