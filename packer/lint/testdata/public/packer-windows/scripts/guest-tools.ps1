$file = 'C:\Windows\Temp\7z1900-x64.msi'
if (!(Test-Path $file)) {
    (New-Object System.Net.WebClient).DownloadFile('https://www.7-zip.org/a/7z1900-x64.msi', $file)
}
cmd /c msiexec /qb /i $file
if ($env:PACKER_BUILDER_TYPE -eq 'virtualbox-iso') {
    cmd /c C:\Windows\Temp\virtualbox\VBoxWindowsAdditions.exe /S
}
