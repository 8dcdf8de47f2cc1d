# A host name that Kubernetes and NetBIOS both take, given while Windows is
# specialized: the one that the hypervisor says, else a random one. Without it
# Windows would choose WIN- and eleven capitals.
param([string] $Prefix = 'winnode-')
#prelude

$name = ''
$daemon = 'C:\Program Files\VMware\VMware Tools\vmtoolsd.exe'
if (Test-Path -Path $daemon) {
    # Fails where the clone wasn't given a name: then there is none.
    $name = "$(& $daemon --cmd 'info-get guestinfo.hostname')".Trim().ToLowerInvariant().Split('.')[0]
}
if ($name -notmatch '^[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$') {
    Write-Output "the hypervisor says '$name', which can't be a node's name"
    $letters = 'abcdefghijklmnopqrstuvwxyz0123456789'.ToCharArray()
    $name = $Prefix + (-join (1..5 | ForEach-Object { Get-Random -InputObject $letters }))
}
if ($env:COMPUTERNAME -ne $name) {
    Rename-Computer -NewName $name -Force
}
Write-Output "host name $name"
