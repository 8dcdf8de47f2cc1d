# What Packer runs when Windows is back after a restart: an update may want another
# one, and the next step would meet it. Then it is made here and now. The
# connection ends with it, and Packer waits for Windows again.
{{template "strict" "restarted"}}

{{template "program"}}

$pending = @(
    'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootPending'
    'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\Component Based Servicing\RebootInProgress'
    'HKLM:\SOFTWARE\Microsoft\Windows\CurrentVersion\WindowsUpdate\Auto Update\RebootRequired'
) | Where-Object { Test-Path -Path $_ }
if ($pending) {
    Write-Output "Windows wants to restart once more: $($pending -join ', ')"
    Invoke-Program 'shutdown.exe' @('/r', '/t', '0', '/f', '/d', 'p:2:17') @(0, 1115, 1190)
    Start-Sleep -Seconds 600
}
