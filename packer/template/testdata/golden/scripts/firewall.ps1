# The ports of a node: the kubelet's logs, the exporter's metrics, SSH.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

New-Item -ItemType Directory -Force -Path 'C:\var\log\winbake' | Out-Null
Start-Transcript -Append -Path 'C:\var\log\winbake\firewall.log' | Out-Null

trap {
    Write-Output "firewall failed: $_"
    Stop-Transcript | Out-Null
    exit 1
}

# PowerShell goes on after a program that failed.
function Invoke-Program {
    param([string] $File, [string[]] $Arguments, [int[]] $Good = @(0))
    $process = Start-Process -FilePath $File -ArgumentList $Arguments -Wait -PassThru -NoNewWindow
    if ($Good -notcontains $process.ExitCode) {
        throw "$File $Arguments ended with $($process.ExitCode)"
    }
}

$rules = @(
    @{ Name = 'ContainerLogsPort'; Port = 10250 }
    @{ Name = 'WindowsExporter'; Port = 9182 }
    @{ Name = 'OpenSSH-Server-In-TCP'; Port = 22 }
)
foreach ($rule in $rules) {
    if (-not (Get-NetFirewallRule -Name $rule.Name -ErrorAction SilentlyContinue)) {
        New-NetFirewallRule -Name $rule.Name -DisplayName $rule.Name -Direction Inbound -Protocol TCP -LocalPort $rule.Port -Action Allow -EdgeTraversalPolicy Allow -Profile Any | Out-Null
    }
    Set-NetFirewallRule -Name $rule.Name -Enabled True -Action Allow -EdgeTraversalPolicy Allow -Profile Any
}

Stop-Transcript | Out-Null
exit 0
