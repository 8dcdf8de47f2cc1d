# The ports of a node: the kubelet's logs, the exporter's metrics, SSH.
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
trap { Write-Output "firewall failed: $_"; exit 1 }

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

exit 0
