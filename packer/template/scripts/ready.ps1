# The folder of what is ours in the image. What lies there runs as SYSTEM in the
# clones, and below C:\ProgramData every user may make files.
{{template "strict" "ready"}}

{{template "program"}}

{{template "setup"}}

# A cloud's machine answers while Windows Setup specializes it, and would restart
# under the next step. When it does, Packer runs this again.
Wait-Setup

$folder = 'C:\ProgramData\winbake'
New-Item -ItemType Directory -Force -Path $folder | Out-Null
# Administrators and SYSTEM by their SIDs: names differ by language.
Invoke-Program 'icacls.exe' @($folder, '/inheritance:r', '/grant:r', '*S-1-5-32-544:(OI)(CI)F', '/grant:r', '*S-1-5-18:(OI)(CI)F')
