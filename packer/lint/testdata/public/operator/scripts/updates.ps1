Install-Module -Name PSWindowsUpdate -Force
$install = { Import-Module PSWindowsUpdate; Get-WUInstall -AcceptAll -IgnoreReboot -Install | Out-File C:\Windows\Temp\updates.log }
$service = New-Object -ComObject Schedule.Service
$service.Connect()
$task = $service.NewTask(0)
$action = $task.Actions.Create(0)
$action.Path = 'powershell'
$action.Arguments = "-Command $install"
$folder = $service.GetFolder('\')
$folder.RegisterTaskDefinition('updates', $task, 6, 'SYSTEM', $null, 1)
$folder.GetTask('updates').Run(0)
while ($service.GetRunningTasks(0).Count -gt 0) { Start-Sleep -Seconds 5 }
