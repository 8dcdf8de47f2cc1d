# An empty exclude-nics: by default VMware Tools hides the virtual cards that
# container networks make, and then nobody sees the address that the node has.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "tools-conf failed: $_"; exit 1 }

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

exit 0
