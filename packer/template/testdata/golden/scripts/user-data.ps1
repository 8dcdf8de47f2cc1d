# What EC2 and Google's machines run at first boot: OpenSSH, and the key that Packer
# made for this build, which the machine's metadata has.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\user-data.log' | Out-Null
trap {
    Write-Output "user-data failed: $_"
    Stop-Transcript | Out-Null
    exit 1
}

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

# At first logon the network card may not have an address yet. A network that
# leads nowhere is no reason to end here: Windows may have the files.
function Wait-Network {
    param([int] $Minutes = 5)
    $deadline = (Get-Date).AddMinutes($Minutes)
    while ((Get-Date) -lt $deadline) {
        $route = Get-NetRoute -DestinationPrefix '0.0.0.0/0', '::/0' -ErrorAction SilentlyContinue
        # Windows has fec0: addresses for name servers that nobody gave it.
        $servers = Get-DnsClientServerAddress | ForEach-Object { $_.ServerAddresses } | Where-Object { $_ -notlike 'fec0:*' }
        if ($route -and $servers) {
            Write-Output 'the network is there'
            return
        }
        Start-Sleep -Seconds 5
    }
    Write-Output "no default route and name server after $Minutes minutes"
}

# Windows Update brings the capability, and fails for a moment now and then.
function Install-OpenSSH {
    param([int] $Tries = 5)
    Wait-Network
    for ($try = 1; $try -le $Tries; $try++) {
        try {
            Add-WindowsCapability -Online -Name 'OpenSSH.Server~~~~0.0.1.0' | Out-Null
            Write-Output "OpenSSH.Server is there, try $try"
            return
        }
        catch {
            Write-Output "OpenSSH.Server, try $try of ${Tries}: $_"
        }
        if ($try -lt $Tries) {
            Start-Sleep -Seconds (30 * $try)
        }
    }
    throw 'Windows Update brings no OpenSSH.Server: is it reachable? Without it, the base image has to have OpenSSH, or openssh_zip brings it where README.md lists that'
}

# A password that nobody is told.
function New-Secret {
    $bytes = New-Object -TypeName 'byte[]' -ArgumentList 32
    [System.Security.Cryptography.RandomNumberGenerator]::Create().GetBytes($bytes)
    ConvertTo-SecureString -String ('aA1!' + [Convert]::ToBase64String($bytes)) -AsPlainText -Force
}

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

Stop-Transcript | Out-Null
exit 0
