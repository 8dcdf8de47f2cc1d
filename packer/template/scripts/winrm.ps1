# WinRM over HTTPS for the build alone, with a certificate of its own:
# first-boot.ps1 closes it in the clones.
{{template "logged" "winrm"}}

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
