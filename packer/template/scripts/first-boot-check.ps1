# The node's check once more, in each clone: a task that starts with Windows,
# waits for Windows Setup, and leaves its result in first-boot.json and in the
# event log Application. winbake-node has left verify.exe and node.json here.
# WINBAKE_ACCEPT is the findings that are accepted, with semicolons.
{{template "prelude" "first-boot-check"}}

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
