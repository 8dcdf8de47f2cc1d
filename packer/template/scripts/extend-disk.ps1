# C: takes the whole disk: at each start of a clone, whose disk may be larger than
# the image's, and now, where a clone or a cloud has made this machine's larger.
# Azure's images don't do it by themselves
# (https://learn.microsoft.com/azure/virtual-machines/windows/expand-disks); AKS
# has a task for it as well (configure-windows-vhd.ps1 of
# https://github.com/Azure/AgentBaker).
{{template "logged" "extend-disk"}}

{{template "program"}}

$own = 'C:\ProgramData\winbake\extend-disk.ps1'
$task = 'winbake-extend-disk'
if ($PSCommandPath -ne $own) {
    Copy-Item -Path $PSCommandPath -Destination $own -Force
    $action = New-ScheduledTaskAction -Execute 'powershell.exe' -Argument "-NoProfile -ExecutionPolicy Bypass -File $own"
    Register-ScheduledTask -TaskName $task -Action $action -Trigger (New-ScheduledTaskTrigger -AtStartup) -User 'SYSTEM' -RunLevel Highest -Force | Out-Null

    # Windows Setup and updates may put the recovery tools behind C:, where they
    # are in the way (https://learn.microsoft.com/windows-hardware/manufacture/desktop/configure-uefigpt-based-hard-drive-partitions).
    # Disabled, they move into C:. A node is replaced, not repaired.
    $system = Get-Partition -DriveLetter C
    $behind = Get-Partition -DiskNumber $system.DiskNumber | Where-Object { $_.Type -eq 'Recovery' -and $_.Offset -gt $system.Offset }
    if ($behind) {
        # 2: they are disabled already.
        Invoke-Program 'reagentc.exe' @('/disable') @(0, 2)
        $behind | Remove-Partition -Confirm:$false
    }
}

$size = (Get-Partition -DriveLetter C).Size
$most = (Get-PartitionSupportedSize -DriveLetter C).SizeMax
# Less than a MB is what alignment leaves, and Hyper-V refuses it.
$step = 1048576
$most = $most - ($most % $step)
if ($most - $size -ge $step) {
    Resize-Partition -DriveLetter C -Size $most
    Write-Output "C: had $size bytes, and has $((Get-Partition -DriveLetter C).Size)"
}
