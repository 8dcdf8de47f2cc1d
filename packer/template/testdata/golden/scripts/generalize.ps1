# sysprep, in a task of its own: a dropped connection doesn't end it, and a
# second run of this script waits for the first one's. It isn't told to shut
# down, so that its result can be read; Packer does that.
# WINBAKE_PROGRAM and WINBAKE_ARGUMENTS are what the platform calls sysprep with;
# WINBAKE_CLOSE_WINRM is true where nothing comes in by WinRM after it.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "generalize failed: $_"; exit 1 }

$task = 'winbake-generalize'
$minutes = 30

function Get-ImageState {
    (Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Setup\State').ImageState
}

# Clouds' own agents go on after sysprep has ended, and what they do belongs
# into the image.
function Test-Running {
    $found = Get-ScheduledTask -TaskName $task -ErrorAction SilentlyContinue
    $found -and ('Running', 'Queued') -contains "$($found.State)"
}

$done = 'IMAGE_STATE_GENERALIZE_RESEAL_TO_OOBE'
if ((Get-ImageState) -ne $done -and -not (Get-ScheduledTask -TaskName $task -ErrorAction SilentlyContinue)) {
    $action = New-ScheduledTaskAction -Execute $env:WINBAKE_PROGRAM -Argument $env:WINBAKE_ARGUMENTS
    # As this administrator, whom Windows logs on for the task without a password:
    # run as SYSTEM, sysprep leaves Windows Server 2025 with Desktop Experience
    # without a Start menu, since it prepares the caller's apps for new users.
    $me = [System.Security.Principal.WindowsIdentity]::GetCurrent().Name
    $principal = New-ScheduledTaskPrincipal -UserId $me -LogonType S4U -RunLevel Highest
    Register-ScheduledTask -TaskName $task -Action $action -Principal $principal | Out-Null
    Start-ScheduledTask -TaskName $task
}

$deadline = (Get-Date).AddMinutes($minutes)
while ((Get-ImageState) -ne $done -or (Test-Running)) {
    if ((Get-Date) -gt $deadline) {
        throw "sysprep hasn't ended after $minutes minutes: the image is $(Get-ImageState)"
    }
    $result = (Get-ScheduledTaskInfo -TaskName $task).LastTaskResult
    # 267009 and 267011: it is running, it hasn't run yet.
    if (-not (Test-Running) -and $result -ne 267009 -and $result -ne 267011 -and $result -ne 0) {
        Get-Content -Path 'C:\Windows\System32\Sysprep\Panther\setuperr.log' -Tail 20 -ErrorAction SilentlyContinue | Write-Output
        throw "sysprep ended with $result"
    }
    Start-Sleep -Seconds 5
}
Unregister-ScheduledTask -TaskName $task -Confirm:$false -ErrorAction SilentlyContinue
# All machines made of the image would show the same SSH host keys. Where there
# is a first-boot.ps1 it takes them away: Packer may still have to come back here.
if (-not (Test-Path -Path 'C:\ProgramData\winbake\first-boot.ps1')) {
    Remove-Item -Path 'C:\ProgramData\ssh\ssh_host_*' -Force
}
# Azure's way in: a listener of WinRM with the certificate that Packer put into a key
# vault. Both would be in every clone. This connection goes on without them, and AKS
# ends its builds in the same way (sysprep.ps1 of https://github.com/Azure/AgentBaker).
# Elsewhere first-boot.ps1 does it: Packer still has to shut the machine down.
if ($env:WINBAKE_CLOSE_WINRM) {
    foreach ($listener in Get-ChildItem -Path 'WSMan:\localhost\Listener' | Where-Object { $_.Keys -contains 'Transport=HTTPS' }) {
        $place = "WSMan:\localhost\Listener\$($listener.Name)"
        $thumbprint = (Get-Item -Path "$place\CertificateThumbprint").Value -replace '\s', ''
        Remove-Item -Path $place -Recurse -Force
        Get-ChildItem -Path 'Cert:\LocalMachine\My' | Where-Object { $_.Thumbprint -eq $thumbprint } | Remove-Item -DeleteKey
    }
}
Write-Output 'the image is generalized'

exit 0
