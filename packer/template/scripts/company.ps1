# What a company's network asks for: a proxy, its update server, its certificates.
# WINBAKE_COMPANY is JSON with proxy, no_proxy, wsus_server and ca_certificates. At
# first logon it is in company.json beside this script, on the build's CD.
{{template "logged" "company"}}

{{template "program"}}

$text = $env:WINBAKE_COMPANY
if (-not $text) {
    $text = Get-Content -Raw -Path (Join-Path $PSScriptRoot 'company.json')
}
$company = $text | ConvertFrom-Json

if ($company.ca_certificates) {
    $store = New-Object -TypeName 'System.Security.Cryptography.X509Certificates.X509Store' -ArgumentList 'Root', 'LocalMachine'
    $store.Open('ReadWrite')
    foreach ($match in [regex]::Matches($company.ca_certificates, '(?s)-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----')) {
        $bytes = [Convert]::FromBase64String(($match.Groups[1].Value -replace '\s', ''))
        $certificate = New-Object -TypeName 'System.Security.Cryptography.X509Certificates.X509Certificate2' -ArgumentList (, $bytes)
        $store.Add($certificate)
        Write-Output "trusted: $($certificate.Subject), $($certificate.Thumbprint)"
    }
    $store.Close()
}

# Windows Update and the capability go by WinHTTP's settings, not by a user's
# (https://learn.microsoft.com/windows/win32/winhttp/netsh-exe-commands).
if ($company.proxy) {
    $arguments = @('winhttp', 'set', 'proxy', "proxy-server=`"$($company.proxy -replace '^https?://', '')`"")
    if ($company.no_proxy) {
        $arguments += "bypass-list=`"$($company.no_proxy)`""
    }
    Invoke-Program 'netsh.exe' $arguments
}

# https://learn.microsoft.com/windows-server/administration/windows-server-update-services/deploy/4-configure-group-policy-settings-for-automatic-updates
if ($company.wsus_server) {
    $policy = 'HKLM:\SOFTWARE\Policies\Microsoft\Windows\WindowsUpdate'
    New-Item -Path "$policy\AU" -Force | Out-Null
    foreach ($name in 'WUServer', 'WUStatusServer') {
        New-ItemProperty -Path $policy -Name $name -Value $company.wsus_server -PropertyType String -Force | Out-Null
    }
    New-ItemProperty -Path "$policy\AU" -Name 'UseWUServer' -Value 1 -PropertyType DWord -Force | Out-Null
    # An update server has no optional features: OpenSSH would end with 0x800f0954.
    # 2 fetches them from Windows Update
    # (https://learn.microsoft.com/windows-hardware/manufacture/desktop/configure-a-windows-repair-source).
    $servicing = 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\Servicing'
    New-Item -Path $servicing -Force | Out-Null
    New-ItemProperty -Path $servicing -Name 'RepairContentServerSource' -Value 2 -PropertyType DWord -Force | Out-Null
    Restart-Service -Name 'wuauserv'
}
