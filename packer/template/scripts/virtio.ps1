# Drivers and the guest agent from the virtio-win CD, wherever it is.
{{template "logged" "virtio"}}

{{template "program"}}

if (Get-Service -Name 'QEMU-GA' -ErrorAction SilentlyContinue) {
    Write-Output 'the guest agent is there'
}
else {
    $setup = Get-PSDrive -PSProvider FileSystem |
        ForEach-Object { Join-Path $_.Root 'virtio-win-guest-tools.exe' } |
        Where-Object { Test-Path -Path $_ } |
        Select-Object -First 1
    if (-not $setup) {
        throw 'no drive holds virtio-win-guest-tools.exe: is it on a CD of the machine?'
    }
    Invoke-Program $setup @('/install', '/quiet', '/norestart') @(0, 3010)
}
Set-Service -Name 'QEMU-GA' -StartupType Automatic
