# VMware Tools from the Tools CD, wherever it is. OpenShift wants 11.0.6 or
# later: older ones don't report addresses as its operator reads them.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\vmware-tools.log' | Out-Null
trap {
    Write-Output "vmware-tools failed: $_"
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

Stop-Transcript | Out-Null
exit 0
