# The OpenSSH server: from a zip if there is one, whose sha256 has to be that of
# openssh.sum beside it, else as a capability of Windows.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\openssh.log' | Out-Null
trap {
    Write-Output "openssh failed: $_"
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

# On the CD of the build, which this script isn't on where Packer uploaded it.
$zip = @($PSScriptRoot) + @(Get-PSDrive -PSProvider FileSystem | ForEach-Object { $_.Root }) |
    Where-Object { Test-Path -Path (Join-Path $_ 'openssh.sum') } |
    ForEach-Object { Get-ChildItem -Path $_ -Filter '*.zip' } |
    Where-Object { $_.Name -like 'openssh*' } |
    Select-Object -First 1

if (Get-Service -Name 'sshd' -ErrorAction SilentlyContinue) {
    Write-Output 'sshd is there'
}
elseif ($zip) {
    $want = (Get-Content -Path (Join-Path $zip.DirectoryName 'openssh.sum') -TotalCount 1).Trim()
    $have = (Get-FileHash -Path $zip.FullName -Algorithm SHA256).Hash
    if ($have -ne $want) {
        throw "$($zip.Name) has the sha256 $have, and $want was asked for"
    }
    # A run that was cut short may have left either folder.
    Get-ChildItem -Path 'C:\Program Files' -Directory -Filter 'OpenSSH*' | Remove-Item -Recurse -Force
    Expand-Archive -Path $zip.FullName -DestinationPath 'C:\Program Files' -Force
    Get-ChildItem -Path 'C:\Program Files' -Directory -Filter 'OpenSSH-*' | Select-Object -First 1 | Rename-Item -NewName 'OpenSSH'
    Invoke-Program 'powershell.exe' @('-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', '"C:\Program Files\OpenSSH\install-sshd.ps1"')
}
else {
    Install-OpenSSH
}

foreach ($name in 'sshd', 'ssh-agent') {
    Set-Service -Name $name -StartupType Automatic
    Start-Service -Name $name
}
if (-not (Get-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -ErrorAction SilentlyContinue)) {
    New-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -DisplayName 'OpenSSH Server (sshd)' -Direction Inbound -Protocol TCP -LocalPort 22 -Action Allow | Out-Null
}
Set-NetFirewallRule -Name 'OpenSSH-Server-In-TCP' -Enabled True -Profile Any

Stop-Transcript | Out-Null
exit 0
