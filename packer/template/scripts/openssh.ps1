# The OpenSSH server: from a zip if there is one, whose sha256 has to be that of
# openssh.sum beside it, else as a capability of Windows.
{{template "logged" "openssh"}}

{{template "program"}}

{{template "capability"}}

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
