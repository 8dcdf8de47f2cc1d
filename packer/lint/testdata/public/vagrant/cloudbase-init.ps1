$msi = "$env:TEMP\cloudbase-init.msi"
(New-Object System.Net.WebClient).DownloadFile('https://github.com/cloudbase/cloudbase-init/releases/download/1.1.6/CloudbaseInitSetup_1_1_6_x64.msi', $msi)
msiexec /i $msi /qn | Out-String -Stream
if ($LASTEXITCODE) {
    throw "cloudbase-init ended with $LASTEXITCODE"
}
