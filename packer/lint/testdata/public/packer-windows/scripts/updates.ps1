$session = New-Object -ComObject 'Microsoft.Update.Session'
$found = $session.CreateUpdateSearcher().Search("IsInstalled=0 and Type='Software'")
$installer = $session.CreateUpdateInstaller()
$installer.Updates = $found.Updates
$result = $installer.Install()
Write-Output "installation result: $($result.ResultCode)"
