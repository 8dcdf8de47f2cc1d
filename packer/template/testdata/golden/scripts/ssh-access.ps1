# Who may log on: the public keys in WINBAKE_KEYS, as administrator. Keys in a
# home directory don't outlive sysprep, so they are in the machine's own file,
# which sshd reads only while nobody but administrators may write it.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "ssh-access failed: $_"; exit 1 }

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

$file = 'C:\ProgramData\ssh\administrators_authorized_keys'
$keys = @($env:WINBAKE_KEYS -split "`n" | ForEach-Object { $_.Trim() } | Where-Object { $_ })
if ($keys.Count -eq 0) {
    throw 'WINBAKE_KEYS is empty: nobody could log on'
}
# A new file in the old one's place: an old one keeps whatever rights it has
# beside those that are granted here. A file that is moved keeps its own.
$new = "$file.new"
Remove-Item -Path $new -Force -ErrorAction SilentlyContinue
Set-Content -Path $new -Value $keys -Encoding Ascii
# Administrators and SYSTEM by their SIDs: names differ by language.
Invoke-Program 'icacls.exe' @($new, '/inheritance:r', '/grant:r', '*S-1-5-32-544:F', '/grant:r', '*S-1-5-18:F')
Move-Item -Path $new -Destination $file -Force

$config = 'C:\ProgramData\ssh\sshd_config'
$lines = @(Get-Content -Path $config | Where-Object { $_ -notmatch '^\s*#?\s*PubkeyAuthentication\s' })
# Before any Match block, which would take the line for its own.
Set-Content -Path $config -Value (@('PubkeyAuthentication yes') + $lines) -Encoding Ascii

foreach ($name in 'sshd', 'ssh-agent') {
    Set-Service -Name $name -StartupType Automatic
    if ((Get-Service -Name $name).Status -ne 'Running') {
        Start-Service -Name $name
    }
}

exit 0
