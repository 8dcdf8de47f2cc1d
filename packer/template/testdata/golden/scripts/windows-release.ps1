# Windows itself, before hours go into it: the release and the language.
# WINBAKE_BUILD is such as 20348.681.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "windows-release failed: $_"; exit 1 }

$current = Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$want = ([version] $env:WINBAKE_BUILD).Major
if ([int] $current.CurrentBuildNumber -ne $want) {
    throw "this is $($current.ProductName), build $($current.CurrentBuildNumber), and the template is for build ${want}: is it the right ISO or base image?"
}
# Windows 11 has the build number of Windows Server 2025.
if ($current.InstallationType -notlike 'Server*') {
    throw "this is a Windows of the kind $($current.InstallationType), and nodes run Windows Server: is it the right ISO or base image?"
}
# What it was installed in, and what its programs take it to be: a German
# Windows with American settings is still a German one.
$language = [System.Globalization.CultureInfo]::InstalledUICulture.Name
foreach ($speaks in $language, (Get-WinSystemLocale).Name) {
    if ($speaks -ne $env:WINBAKE_LANGUAGE) {
        throw "Windows speaks $speaks, and $($env:WINBAKE_LANGUAGE) was asked for"
    }
}
Write-Output "Windows build $want, $($current.InstallationType), $language"

exit 0
