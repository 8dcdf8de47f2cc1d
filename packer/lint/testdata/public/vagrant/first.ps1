$autoLogon = 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon'
Set-ItemProperty -Path $autoLogon -Name AutoAdminLogon -Value 0
foreach ($name in 'vmtools', 'winrm', 'openssh') {
    & "$PSScriptRoot\$name.ps1"
}
