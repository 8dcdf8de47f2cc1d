# The node's check once more, in each clone: a task that starts with Windows,
# waits for Windows Setup, and leaves its result in first-boot.json and in the
# event log Application. winbake-node has left verify.exe and node.json here.
# WINBAKE_ACCEPT is the findings that are accepted, with semicolons.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\first-boot-check.log' | Out-Null

trap {
    Write-Output "first-boot-check failed: $_"
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

$folder = 'C:\ProgramData\winbake'
$task = 'winbake-first-boot-check'
foreach ($file in 'verify.exe', 'node.json') {
    if (-not (Test-Path -Path (Join-Path $folder $file))) {
        throw "$folder has no ${file}: winbake-node leaves it there with first_boot_check = true"
    }
}

$arguments = "node --first-boot --expect $folder\node.json"
foreach ($id in "$env:WINBAKE_ACCEPT".Split(';') | Where-Object { $_ }) {
    $arguments += " --accept `"$id`""
}
# The second action takes the task away. A restart in the first one leaves it for
# the next start.
$actions = @(
    New-ScheduledTaskAction -Execute "$folder\verify.exe" -Argument $arguments
    New-ScheduledTaskAction -Execute 'C:\Windows\System32\schtasks.exe' -Argument "/delete /tn $task /f"
)
$trigger = New-ScheduledTaskTrigger -AtStartup
$settings = New-ScheduledTaskSettingsSet -ExecutionTimeLimit (New-TimeSpan -Hours 1)
Register-ScheduledTask -TaskName $task -Action $actions -Trigger $trigger -Settings $settings -User 'SYSTEM' -RunLevel Highest -Force | Out-Null
Write-Output "$task runs at the next start: verify.exe $arguments"

Stop-Transcript | Out-Null
exit 0
