foreach ($port in 10250, 9182) {
    New-NetFirewallRule -DisplayName "port $port" -Direction Inbound -Protocol TCP -LocalPort $port -Action Allow
}
