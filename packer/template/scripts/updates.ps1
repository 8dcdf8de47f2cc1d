# One round of Windows Update. The template runs it several times with a
# restart in between: updates bring updates. Windows refuses it to remote
# sessions, so Packer runs it as SYSTEM in a task.
#prelude

$session = New-Object -ComObject 'Microsoft.Update.Session'
# BrowseOnly: previews, which Windows itself installs only if somebody asks.
$found = $session.CreateUpdateSearcher().Search("IsInstalled=0 and IsHidden=0 and BrowseOnly=0 and Type='Software'").Updates
Write-Output "$($found.Count) updates"

if ($found.Count -gt 0) {
    $wanted = New-Object -ComObject 'Microsoft.Update.UpdateColl'
    foreach ($update in $found) {
        if ($update.InstallationBehavior.CanRequestUserInput) {
            Write-Output "passed over, since it may ask somebody: $($update.Title)"
            continue
        }
        Write-Output $update.Title
        if (-not $update.EulaAccepted) {
            $update.AcceptEula()
        }
        $wanted.Add($update) | Out-Null
    }
    if ($wanted.Count -eq 0) {
        Stop-Transcript | Out-Null
        exit 0
    }
    $downloader = $session.CreateUpdateDownloader()
    $downloader.Updates = $wanted
    $installer = $session.CreateUpdateInstaller()
    $installer.Updates = $wanted
    # 2: succeeded. 3: with errors, which the next round tries again.
    foreach ($result in $downloader.Download(), $installer.Install()) {
        if ($result.ResultCode -ne 2 -and $result.ResultCode -ne 3) {
            throw "Windows Update ended with the result $($result.ResultCode)"
        }
    }
}
