# Runs once in each clone, before anybody can log on (SetupComplete.cmd): takes
# away what the build and sysprep left. The password in the answer file is
# replaced by one that nobody knows: SSH keys are the way in.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\first-boot.log' | Out-Null
trap {
    Write-Output "first-boot failed: $_"
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

# A password that nobody is told.
function New-Secret {
    $bytes = New-Object -TypeName 'byte[]' -ArgumentList 32
    [System.Security.Cryptography.RandomNumberGenerator]::Create().GetBytes($bytes)
    ConvertTo-SecureString -String ('aA1!' + [Convert]::ToBase64String($bytes)) -AsPlainText -Force
}

# A node under another name is a stranger to the cluster, and nobody looks into a
# log: the event log is where it is seen.
function Write-NameEvent {
    param([string] $Text)
    if (-not [System.Diagnostics.EventLog]::SourceExists('winbake')) {
        New-EventLog -LogName 'Application' -Source 'winbake' -MessageResourceFile 'C:\Windows\System32\EventCreate.exe'
    }
    Write-EventLog -LogName 'Application' -Source 'winbake' -EventId 110 -EntryType Error -Message $Text
    Write-Output $Text
}

foreach ($file in 'C:\Windows\Panther\unattend.xml', 'C:\Windows\Panther\unattend-original.xml', 'C:\Windows\System32\Sysprep\unattend.xml', 'C:\ProgramData\winbake\unattend.xml') {
    if (Test-Path -Path $file) {
        Remove-Item -Path $file -Force
    }
}

$administrator = Get-LocalUser | Where-Object { $_.SID.Value -like 'S-1-5-21-*-500' }
Set-LocalUser -SID $administrator.SID -Password (New-Secret)

# Its task may have come too early, while Windows Setup was at work.
Invoke-Program 'powershell.exe' @('-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', 'C:\ProgramData\winbake\extend-disk.ps1') @(0, 1)

# Every clone would show the same SSH host keys: sshd makes new ones when it
# starts and finds none.
if (Get-Service -Name 'sshd' -ErrorAction SilentlyContinue) {
    Stop-Service -Name 'sshd' -Force
    Remove-Item -Path 'C:\ProgramData\ssh\ssh_host_*' -Force
    Start-Service -Name 'sshd'
}

$rule = Get-NetFirewallRule -Name 'winbake-winrm' -ErrorAction SilentlyContinue
if ($rule) {
    # It may not have come up yet, and its settings are only there while it runs.
    Start-Service -Name 'WinRM'
    Set-Item -Path 'WSMan:\localhost\Service\Auth\Basic' -Value $false
    Get-ChildItem -Path 'WSMan:\localhost\Listener' |
        Where-Object { $_.Keys -contains 'Transport=HTTPS' } |
        Remove-Item -Recurse -Force
    Get-ChildItem -Path 'Cert:\LocalMachine\My' | Where-Object { $_.FriendlyName -eq 'winbake-winrm' } | Remove-Item
    Remove-NetFirewallRule -Name 'winbake-winrm'
}
# host-name.ps1 left the name there, unless cloudbase-init names clones.
$wanted = Get-Content -Path 'C:\ProgramData\winbake\host-name.txt' -ErrorAction SilentlyContinue
if (-not $wanted -and -not (Get-Service -Name 'cloudbase-init' -ErrorAction SilentlyContinue)) {
    Write-NameEvent "This machine is called $($env:COMPUTERNAME), and was given no name: C:\var\log\winbake\host-name.log says why. Rename-Computer -NewName NAME -Restart gives it one."
}
elseif ($wanted -and $env:COMPUTERNAME -ne $wanted) {
    Write-NameEvent "This machine is called $($env:COMPUTERNAME), and the name that it was given is ${wanted}: it won't join the cluster under that one. C:\var\log\winbake\host-name.log says what was done. Rename-Computer -NewName $wanted -Restart gives it the name."
}
Remove-Item -Path 'C:\Windows\Setup\Scripts\SetupComplete.cmd' -Force

Stop-Transcript | Out-Null
exit 0
