# Windows itself: the release and the patch level that a node needs at least,
# and the language. WINBAKE_BUILD is such as 20348.681.
#prelude

$current = Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$have = New-Object -TypeName System.Version -ArgumentList ([int] $current.CurrentBuildNumber), ([int] $current.UBR)
$want = [version] $env:WINBAKE_BUILD
if ($have.Major -ne $want.Major) {
    throw "this is Windows build $have, and the template is for $($want.Major): is it the right ISO or base image?"
}
if ($have -lt $want) {
    throw "Windows build $have is older than $want, which containers need: is Windows Update reachable?"
}
# What it was installed in, and what its programs take it to be: a German
# Windows with American settings is still a German one.
$language = [System.Globalization.CultureInfo]::InstalledUICulture.Name
foreach ($speaks in $language, (Get-WinSystemLocale).Name) {
    if ($speaks -ne $env:WINBAKE_LANGUAGE) {
        throw "Windows speaks $speaks, and $($env:WINBAKE_LANGUAGE) was asked for"
    }
}
Write-Output "Windows build $have, $language"
