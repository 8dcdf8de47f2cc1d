# PowerShell 7 runs this one.
$release = $env:RELEASE ?? 'none'
Write-Output "release $release"
