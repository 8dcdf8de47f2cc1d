# A host name that Kubernetes and NetBIOS both take, given while Windows is
# specialized: the one that the hypervisor says, else a random one. Without it
# Windows would choose WIN- and eleven capitals.
# A new name counts from the next start on, and Windows Setup would go on under the
# old one. It restarts for an exit code of 1 (WillReboot in unattend.xml), by which
# cloudbase-init names machines as well.
param([string] $Prefix = 'winnode-')
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\host-name.log' | Out-Null
trap {
    Write-Output "host-name failed: $_"
    Stop-Transcript | Out-Null
    exit 1
}

$name = ''
$daemon = 'C:\Program Files\VMware\VMware Tools\vmtoolsd.exe'
if (Test-Path -Path $daemon) {
    # The Machine API gives the machine's name there. It fails where a clone wasn't
    # given one.
    $name = "$(& $daemon --cmd 'info-get guestinfo.hostname')".Trim().ToLowerInvariant().Split('.')[0]
}
if ($name -notmatch '^[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$') {
    Write-Output "the hypervisor says '$name', which can't be a node's name"
    $letters = 'abcdefghijklmnopqrstuvwxyz0123456789'.ToCharArray()
    $name = $Prefix + (-join (1..5 | ForEach-Object { Get-Random -InputObject $letters }))
}
Set-Content -Path 'C:\ProgramData\winbake\host-name.txt' -Value $name -Encoding Ascii
Write-Output "host name $name"
if ($env:COMPUTERNAME -ne $name) {
    Rename-Computer -NewName $name -Force
    Stop-Transcript | Out-Null
    exit 1
}

Stop-Transcript | Out-Null
exit 0
