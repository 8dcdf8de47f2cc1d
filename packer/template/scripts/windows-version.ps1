# The patch level that a node needs at least. WINBAKE_BUILD is such as 20348.681.
{{template "strict" "windows-version"}}

$current = Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$have = New-Object -TypeName System.Version -ArgumentList ([int] $current.CurrentBuildNumber), ([int] $current.UBR)
$want = [version] $env:WINBAKE_BUILD
if ($have -lt $want) {
    throw "Windows build $have is older than $want, which containers need: take a newer ISO or base image, or see why Windows Update didn't bring it"
}
Write-Output "Windows build $have"
