# cloudbase-init, which gives clones their names and runs their user data, with the
# settings of image-builder's images. WINBAKE_SUM is the installer's sha256,
# WINBAKE_METADATA the services that know the platform's metadata.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "cloudbase-init failed: $_"; exit 1 }

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

$installer = 'C:\ProgramData\winbake\cloudbase-init.msi'
$have = (Get-FileHash -Path $installer -Algorithm SHA256).Hash
if ($have -ne $env:WINBAKE_SUM) {
    throw "cloudbase_init_msi has the sha256 $have, and $($env:WINBAKE_SUM) was asked for"
}
Invoke-Program 'msiexec.exe' @('/i', $installer, '/qn', '/norestart', '/l*v', 'C:\Windows\Temp\cloudbase-init-msi.log') @(0, 3010)
# It isn't to run while the image is made: SetupComplete.cmd starts it in the clones.
Set-Service -Name 'cloudbase-init' -StartupType Disabled
Remove-Item -Path $installer -Force

$folder = 'C:\Program Files\Cloudbase Solutions\Cloudbase-Init'
$plugins = @(
    'windows.createuser.CreateUserPlugin', 'common.mtu.MTUPlugin', 'common.sethostname.SetHostNamePlugin'
    'common.networkconfig.NetworkConfigPlugin', 'windows.extendvolumes.ExtendVolumesPlugin'
    'common.sshpublickeys.SetUserSSHPublicKeysPlugin', 'common.userdata.UserDataPlugin', 'common.localscripts.LocalScriptsPlugin'
) | ForEach-Object { "cloudbaseinit.plugins.$_" }
Set-Content -Path "$folder\conf\cloudbase-init.conf" -Encoding Ascii -Value @(
    '[DEFAULT]'
    'username=capi'
    'groups=Administrators'
    'inject_user_password=false'
    'first_logon_behaviour=no'
    'check_latest_version=false'
    'netbios_host_name_compatibility=false'
    'config_drive_raw_hhd=true'
    'config_drive_cdrom=true'
    'config_drive_vfat=true'
    "bsdtar_path=$folder\bin\bsdtar.exe"
    "mtools_path=$folder\bin\"
    "logdir=$folder\log\"
    'logfile=cloudbase-init.log'
    "local_scripts_path=$folder\LocalScripts\"
    "metadata_services=$($env:WINBAKE_METADATA)"
    "plugins=$($plugins -join ',')"
)

exit 0
