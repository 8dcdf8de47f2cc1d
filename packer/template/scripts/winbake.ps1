# What Windows Setup runs at the first logon, from the CD that autounattend.xml
# is on: drivers and tools first, since the network card may need them, then what
# the network asks for, and the service that Packer connects to.
{{template "logged" "winbake"}}

{{template "program"}}

foreach ($name in 'tools.ps1', 'company.ps1', 'reach.ps1') {
    $script = Join-Path $PSScriptRoot $name
    if (Test-Path -Path $script) {
        Invoke-Program 'powershell.exe' @('-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', $script)
    }
}
