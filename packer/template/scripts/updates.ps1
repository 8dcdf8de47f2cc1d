# One round of Windows Update. The template runs it several times with a
# restart in between: updates bring updates, and what failed is tried again.
# Windows refuses it to remote sessions, so Packer runs it as SYSTEM in a task.
# WINBAKE_UPDATES is windows-update, or none where Windows stays as it is.
{{template "strict" "updates"}}

# The names of OperationResultCode.
$outcomes = 'not started', 'in progress', 'succeeded', 'succeeded with errors', 'failed', 'aborted'

function Write-Outcome {
    param([string] $Step, $Updates, $Result)
    Write-Output "$Step $($outcomes[$Result.ResultCode])"
    for ($i = 0; $i -lt $Updates.Count; $i++) {
        $one = $Result.GetUpdateResult($i)
        Write-Output ('  {0}, 0x{1:X8}: {2}' -f $outcomes[$one.ResultCode], $one.HResult, $Updates.Item($i).Title)
    }
}

# Failures are told and no more: updates-left.ps1 looks at what they come to.
function Install-Update {
    $session = New-Object -ComObject 'Microsoft.Update.Session'
    # BrowseOnly: previews, which Windows itself installs only if somebody asks.
    $found = $session.CreateUpdateSearcher().Search("IsInstalled=0 and IsHidden=0 and BrowseOnly=0 and Type='Software'").Updates
    Write-Output "$($found.Count) updates"

    $wanted = New-Object -ComObject 'Microsoft.Update.UpdateColl'
    foreach ($update in $found) {
        if ($update.InstallationBehavior.CanRequestUserInput) {
            Write-Output "passed over, since it may ask somebody: $($update.Title)"
            continue
        }
        if (-not $update.EulaAccepted) {
            $update.AcceptEula()
        }
        $wanted.Add($update) | Out-Null
    }
    if ($wanted.Count -eq 0) {
        return
    }
    $downloader = $session.CreateUpdateDownloader()
    $downloader.Updates = $wanted
    Write-Outcome 'download' $wanted ($downloader.Download())

    $whole = New-Object -ComObject 'Microsoft.Update.UpdateColl'
    foreach ($update in $wanted) {
        if ($update.IsDownloaded) {
            $whole.Add($update) | Out-Null
        }
    }
    if ($whole.Count -eq 0) {
        Write-Output 'nothing was downloaded, so nothing is installed'
        return
    }
    $installer = $session.CreateUpdateInstaller()
    $installer.Updates = $whole
    Write-Outcome 'install' $whole ($installer.Install())
}

if ($env:WINBAKE_UPDATES -eq 'none') {
    Write-Output 'updates = none: Windows is left as it is'
}
else {
    Install-Update
}
