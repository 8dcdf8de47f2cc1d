# The Containers feature. Without it the node would restart once more when it
# joins.
{{template "strict" "features"}}

$result = Install-WindowsFeature -Name 'Containers'
if (-not $result.Success) {
    throw "the feature Containers wasn't installed: $($result.ExitCode)"
}
Write-Output "Containers: $($result.ExitCode)"
