# Once in each machine that is made of the image, on AWS, Azure and Google, whose
# agents have answer files of their own: Google's has en-US and London's time in it
# (sysprep/unattended.xml of https://github.com/GoogleCloudPlatform/compute-image-windows).
# Gives the machine its time zone, and users their formats and keyboard. A task starts
# it with Windows. WINBAKE_LOCALE is such as en-GB, WINBAKE_TIME_ZONE a time zone by
# Windows' name.
param([string] $Locale, [string] $TimeZone)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\cloud-locale.log' | Out-Null
trap {
    Write-Output "cloud-locale failed: $_"
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

# Has this script started once with Windows, in the machines that are made of the
# image. A restart under the first action leaves the task for the next start.
function Register-FirstBoot {
    param([string] $Name, [string] $Arguments)
    $own = "C:\ProgramData\winbake\$Name.ps1"
    Copy-Item -Path $PSCommandPath -Destination $own -Force
    $actions = @(
        New-ScheduledTaskAction -Execute 'powershell.exe' -Argument "-NoProfile -ExecutionPolicy Bypass -File $own $Arguments"
        New-ScheduledTaskAction -Execute 'C:\Windows\System32\schtasks.exe' -Argument "/delete /tn winbake-$Name /f"
    )
    Register-ScheduledTask -TaskName "winbake-$Name" -Action $actions -Trigger (New-ScheduledTaskTrigger -AtStartup) -User 'SYSTEM' -RunLevel Highest -Force | Out-Null
}

function Wait-Setup {
    $deadline = (Get-Date).AddMinutes(30)
    while ((Get-ItemProperty -Path 'HKLM:\SYSTEM\Setup').SystemSetupInProgress -ne 0) {
        if ((Get-Date) -gt $deadline) {
            throw 'Windows Setup is still at work after 30 minutes'
        }
        Start-Sleep -Seconds 5
    }
}

if ($env:WINBAKE_LOCALE) {
    Register-FirstBoot 'cloud-locale' "-Locale $($env:WINBAKE_LOCALE) -TimeZone `"$($env:WINBAKE_TIME_ZONE)`""
    Stop-Transcript | Out-Null
    exit 0
}
Wait-Setup

Invoke-Program 'tzutil.exe' @('/s', "`"$TimeZone`"")
if ($Locale -eq 'en-US') {
    Stop-Transcript | Out-Null
    exit 0
}
# Windows Server 2022 has no Copy-UserInternationalSettingsToSystem
# (https://learn.microsoft.com/powershell/module/international/copy-userinternationalsettingstosystem):
# the control panel copies from the user that it is run by, which is SYSTEM, to the
# other system accounts and to new users. Server Core has it too
# (https://learn.microsoft.com/windows-server/administration/server-core/server-core-administer).
$keyboard = (New-WinUserLanguageList -Language $Locale)[0].InputMethodTips[0]
$file = 'C:\ProgramData\winbake\locale.xml'
Set-Content -Path $file -Encoding UTF8 -Value @(
    '<gs:GlobalizationServices xmlns:gs="urn:longhornGlobalizationUnattend">'
    '<gs:UserList><gs:User UserID="Current" CopySettingsToDefaultUserAcct="true" CopySettingsToSystemAcct="true"/></gs:UserList>'
    "<gs:UserLocale><gs:Locale Name=`"$Locale`" SetAsCurrent=`"true`"/></gs:UserLocale>"
    "<gs:InputPreferences><gs:InputLanguageID Action=`"add`" ID=`"$keyboard`" Default=`"true`"/></gs:InputPreferences>"
    '</gs:GlobalizationServices>'
)
Invoke-Program 'control.exe' @("intl.cpl,,/f:`"$file`"")
Remove-Item -Path $file -Force
# It ends with 0 in any case.
$has = (Get-ItemProperty -Path 'Registry::HKEY_USERS\.DEFAULT\Control Panel\International').LocaleName
if ($has -ne $Locale) {
    throw "formats are those of $has, and $Locale was asked for"
}
Write-Output "formats and keyboard of $Locale"

Stop-Transcript | Out-Null
exit 0
