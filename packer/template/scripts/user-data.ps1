# What EC2 runs at first boot: OpenSSH, and the key that Packer made for this
# build, which the instance's metadata has.
#prelude
#capability

Install-OpenSSH

$metadata = 'http://169.254.169.254/latest'
$token = Invoke-RestMethod -Method Put -Uri "$metadata/api/token" -Headers @{ 'X-aws-ec2-metadata-token-ttl-seconds' = '300' }
$key = Invoke-RestMethod -Uri "$metadata/meta-data/public-keys/0/openssh-key" -Headers @{ 'X-aws-ec2-metadata-token' = $token }

New-Item -ItemType Directory -Force -Path 'C:\ProgramData\ssh' | Out-Null
$file = 'C:\ProgramData\ssh\administrators_authorized_keys'
Set-Content -Path $file -Value $key.Trim() -Encoding Ascii
Invoke-Program 'icacls.exe' @($file, '/inheritance:r', '/grant', '*S-1-5-32-544:F', '/grant', '*S-1-5-18:F')

if (-not (Get-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -ErrorAction SilentlyContinue)) {
    New-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -DisplayName 'OpenSSH Server (sshd)' -Direction Inbound -Protocol TCP -LocalPort 22 -Action Allow -Profile Any | Out-Null
}
foreach ($name in 'sshd', 'ssh-agent') {
    Set-Service -Name $name -StartupType Automatic
    Start-Service -Name $name
}
