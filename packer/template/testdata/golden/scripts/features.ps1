# The Containers feature. Without it the node would restart once more when it
# joins.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "features failed: $_"; exit 1 }

$result = Install-WindowsFeature -Name 'Containers'
if (-not $result.Success) {
    throw "the feature Containers wasn't installed: $($result.ExitCode)"
}
Write-Output "Containers: $($result.ExitCode)"

exit 0
