winrm quickconfig -quiet
winrm set winrm/config/service '@{AllowUnencrypted="true"}'
winrm set winrm/config/service/auth '@{Basic="true"}'
New-NetFirewallRule -DisplayName winrm -Direction Inbound -Action Allow -Protocol TCP -LocalPort 5985
