# What EC2 and Google's machines run at first boot: OpenSSH, and the key that Packer
# made for this build, which the machine's metadata has.
{{template "logged" "user-data"}}

{{template "program"}}

{{template "capability"}}

{{template "secret"}}

Install-OpenSSH

function Get-BuildKey {
    $ec2 = 'http://169.254.169.254/latest'
    if (Test-Path -Path 'C:\Program Files\Amazon') {
        $token = Invoke-RestMethod -Method Put -Uri "$ec2/api/token" -Headers @{ 'X-aws-ec2-metadata-token-ttl-seconds' = '300' }
        return Invoke-RestMethod -Uri "$ec2/meta-data/public-keys/0/openssh-key" -Headers @{ 'X-aws-ec2-metadata-token' = $token }
    }
    # Lines of USER:KEY.
    $keys = Invoke-RestMethod -Uri 'http://metadata.google.internal/computeMetadata/v1/instance/attributes/ssh-keys' -Headers @{ 'Metadata-Flavor' = 'Google' }
    $keys -split "`n" | ForEach-Object { $_ -replace '^[^:]+:', '' }
}

# Google's images have the built-in administrator disabled, and the operator's user
# data enables it in the same way.
$administrator = Get-LocalUser | Where-Object { $_.SID.Value -like 'S-1-5-21-*-500' }
if (-not $administrator.Enabled) {
    Set-LocalUser -SID $administrator.SID -Password (New-Secret)
    Enable-LocalUser -SID $administrator.SID
}

New-Item -ItemType Directory -Force -Path 'C:\ProgramData\ssh' | Out-Null
$file = 'C:\ProgramData\ssh\administrators_authorized_keys'
Set-Content -Path $file -Value @(Get-BuildKey | ForEach-Object { $_.Trim() }) -Encoding Ascii
Invoke-Program 'icacls.exe' @($file, '/inheritance:r', '/grant', '*S-1-5-32-544:F', '/grant', '*S-1-5-18:F')

if (-not (Get-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -ErrorAction SilentlyContinue)) {
    New-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -DisplayName 'OpenSSH Server (sshd)' -Direction Inbound -Protocol TCP -LocalPort 22 -Action Allow | Out-Null
}
# The rule of Windows Server 2025 is for private networks alone, and a cloud's is a
# public one to Windows. The operator's user data does the same.
Set-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -Enabled True -Profile Any
foreach ($name in 'sshd', 'ssh-agent') {
    Set-Service -Name $name -StartupType Automatic
    Start-Service -Name $name
}
