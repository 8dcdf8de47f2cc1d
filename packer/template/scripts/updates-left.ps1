# What Windows Update still has after the last round and its restart ends the
# build: nothing else tells an image without its updates from one with them.
# WINBAKE_UPDATES is that of updates.ps1. WINBAKE_ACCEPT is what may be missing,
# with semicolons: KB numbers, or all.
{{template "strict" "updates-left"}}

# Defender's definitions: new ones come several times a day, to nodes as well.
$definitions = 'e0789628-ce08-4437-be74-2495b842f43b'
$accepted = "$env:WINBAKE_ACCEPT".Split(';')

function Get-MissingUpdate {
    # The same as in updates.ps1.
    $search = (New-Object -ComObject 'Microsoft.Update.Session').CreateUpdateSearcher().Search("IsInstalled=0 and IsHidden=0 and BrowseOnly=0 and Type='Software'")
    if ($search.ResultCode -ne 2) {
        throw "the search for updates ended with the result $($search.ResultCode)"
    }
    foreach ($update in $search.Updates) {
        $categories = @($update.Categories | ForEach-Object { $_.CategoryID })
        $names = @('all') + @($update.KBArticleIDs | ForEach-Object { "KB$_" })
        if ($update.InstallationBehavior.CanRequestUserInput -or $categories -contains $definitions) {
            continue
        }
        if ($names | Where-Object { $accepted -contains $_ }) {
            Write-Host "missing, and accepted: $($update.Title)"
            continue
        }
        $update.Title
    }
}

if ($env:WINBAKE_UPDATES -eq 'none') {
    Write-Output 'updates = none: nobody asked what is missing'
}
else {
    $missing = @(Get-MissingUpdate)
    if ($missing.Count -gt 0) {
        throw "after all rounds Windows still lacks $($missing -join '; '). The rounds' output says why: fix that, or accept_missing_updates names what may be missing"
    }
    Write-Output 'Windows has its updates'
}
