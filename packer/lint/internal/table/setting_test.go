package table

import (
	"testing"

	"github.com/winbake/winbake/internal/winscript"
)

// TestTells: what weakens, what takes it back, and what is about neither, by the
// commands of a script.
func TestTells(t *testing.T) {
	const logon = `'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon'`
	for script, want := range map[string]string{
		"Set-ItemProperty -Path " + logon + " -Name AutoAdminLogon -Value 1 -Type String":           "+AutoAdminLogon",
		"Set-ItemProperty " + logon + " AutoAdminLogon 1":                                           "+AutoAdminLogon",
		"Set-ItemProperty -Value 1 -Path " + logon + " -Name AutoAdminLogon":                        "+AutoAdminLogon",
		"New-ItemProperty " + logon + " -Name AutoAdminLogon -PropertyType String -Value 1":         "+AutoAdminLogon",
		"$p = @{ Path = " + logon + "; Name = 'AutoAdminLogon'; Value = '1' }\nSet-ItemProperty @p": "+AutoAdminLogon",
		"Set-ItemProperty " + logon + " -Name AutoAdminLogon -Value '0'":                            "-AutoAdminLogon",
		"Remove-ItemProperty " + logon + " -Name AutoAdminLogon":                                    "-AutoAdminLogon",
		`reg add "HKLM\SOFTWARE\a" /v AutoAdminLogon /t REG_SZ /d 1 /f`:                             "+AutoAdminLogon",
		`reg delete HKLM\SOFTWARE\a /v AutoAdminLogon /f`:                                           "-AutoAdminLogon",
		`reg query HKLM\SOFTWARE\a /v AutoAdminLogon`:                                               "",
		"Set-ItemProperty -Path " + logon + " -Name AutoLogonCount -Value 1":                        "",
		"Set-ItemProperty -Path HKLM:\\a -Name EnableLUA -Value 0":                                  "+EnableLUA",
		"reg add HKLM\\a /v EnableLUA /t REG_DWORD /d 0x0 /f":                                       "+EnableLUA",
		"Set-ItemProperty -Path HKLM:\\a -Name EnableLUA -Value 1":                                  "-EnableLUA",
		"netsh advfirewall set allprofiles state off":                                               "+firewall",
		"Set-NetFirewallProfile -All -Enabled True":                                                 "-firewall",
		"sc.exe config mpssvc start= disabled":                                                      "+firewall",
		"Set-NetFirewallProfile -Profile Public -DefaultInboundAction Allow":                        "+firewall",
		"netsh advfirewall set allprofiles firewallpolicy blockinbound,allowoutbound":               "-firewall",
		"bcdedit /set testsigning on":                                                               "+testsigning",
		"bcdedit.exe /set '{current}' nointegritychecks off":                                        "-testsigning",
		"Enable-WindowsOptionalFeature -Online -FeatureName smb1protocol":                           "+SMB1",
		"Remove-WindowsFeature FS-SMB1":                                                             "-SMB1",
		"Set-SmbServerConfiguration -EnableSMB1Protocol $false -Force":                              "-SMB1",
		"net user guest /active:yes":                                                                "+guest",
		"Disable-LocalUser -Name Guest":                                                             "-guest",
		"winrm set winrm/config/service '@{AllowUnencrypted=\"true\"}'":                             "+WinRM takes requests that aren't encrypted",
		"winrm set winrm/config/client '@{AllowUnencrypted=\"true\"}'":                              "",
		"Set-Item WSMan:\\localhost\\Service\\Auth\\Basic $true":                                    "+WinRM takes passwords by Basic",
		"Set-Service -Name WinRM -StartupType Disabled":                                             "-WinRM takes requests that aren't encrypted-WinRM takes passwords by Basic",
	} {
		have := ""
		for _, c := range winscript.Run(script, nil).Commands {
			for _, s := range Settings() {
				object := s.Object
				if object == "" {
					object = s.What
				}
				switch weakens, told := s.Tells(c.Text()); {
				case weakens:
					have += "+" + object
				case told:
					have += "-" + object
				}
			}
		}
		if have != want {
			t.Errorf("%s: want %q, have %q", script, want, have)
		}
	}
}
