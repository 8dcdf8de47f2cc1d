# WinRM over HTTPS for the build alone, with a certificate of its own:
# first-boot.ps1 closes it in the clones.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\winrm.log' | Out-Null
trap {
    Write-Output "winrm failed: $_"
    Stop-Transcript | Out-Null
    exit 1
}

$name = 'winbake-winrm'
Set-Service -Name 'WinRM' -StartupType Automatic
Start-Service -Name 'WinRM'
Get-ChildItem -Path 'WSMan:\localhost\Listener' |
    Where-Object { $_.Keys -contains 'Transport=HTTPS' } |
    Remove-Item -Recurse -Force
$certificate = New-SelfSignedCertificate -DnsName $env:COMPUTERNAME -FriendlyName $name -CertStoreLocation 'Cert:\LocalMachine\My'
New-Item -Path 'WSMan:\localhost\Listener' -Transport HTTPS -Address '*' -CertificateThumbPrint $certificate.Thumbprint -Force | Out-Null
Set-Item -Path 'WSMan:\localhost\Service\Auth\Basic' -Value $true
if (-not (Get-NetFirewallRule -Name $name -ErrorAction SilentlyContinue)) {
    New-NetFirewallRule -Name $name -DisplayName $name -Direction Inbound -Protocol TCP -LocalPort 5986 -Action Allow -Profile Any | Out-Null
}

Stop-Transcript | Out-Null
exit 0
