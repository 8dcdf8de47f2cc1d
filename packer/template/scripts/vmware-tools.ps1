# VMware Tools from the Tools CD, wherever it is. OpenShift wants 11.0.6 or
# later: older ones don't report addresses as its operator reads them.
{{template "logged" "vmware-tools"}}

{{template "program"}}

$minimum = [version] '11.0.6'
$daemon = 'C:\Program Files\VMware\VMware Tools\vmtoolsd.exe'

if (-not (Test-Path -Path $daemon)) {
    $setup = Get-PSDrive -PSProvider FileSystem |
        ForEach-Object { Join-Path $_.Root 'setup64.exe'; Join-Path $_.Root 'setup.exe' } |
        Where-Object { Test-Path -Path $_ } |
        Where-Object { (Get-Item -Path $_).VersionInfo.ProductName -like 'VMware Tools*' } |
        Select-Object -First 1
    if (-not $setup) {
        throw 'no drive holds the installer of VMware Tools: is tools_iso_path right?'
    }
    # 3010 and 1641: installed, and Windows wants a restart.
    Invoke-Program $setup @('/S', '/v"/qn REBOOT=R"') @(0, 3010, 1641)
}

$found = (Get-Item -Path $daemon).VersionInfo
$version = New-Object -TypeName System.Version -ArgumentList $found.FileMajorPart, $found.FileMinorPart, $found.FileBuildPart
if ($version -lt $minimum) {
    throw "VMware Tools $version is older than $minimum"
}
Set-Service -Name 'VMTools' -StartupType Automatic
Start-Service -Name 'VMTools'
Write-Output "VMware Tools $version"
