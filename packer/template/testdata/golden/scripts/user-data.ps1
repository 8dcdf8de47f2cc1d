# What EC2 runs at first boot: OpenSSH, and the key that Packer made for this
# build, which the instance's metadata has.
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
    throw 'Windows Update brings no OpenSSH.Server: is it reachable? Without it, openssh_zip is the way'
}

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

Stop-Transcript | Out-Null
exit 0
