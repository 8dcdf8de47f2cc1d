package command

import (
	"fmt"
	"testing"

	"github.com/winbake/winbake/internal/winscript"
)

// TestAccounts: what commands do with accounts, in PowerShell's ways and net.exe's.
func TestAccounts(t *testing.T) {
	for script, want := range map[string]string{
		"net user packer Pa55 /add":                                                    "[{made packer}]",
		"net.exe user /add packer Pa55":                                                "[{made packer}]",
		"net user packer /delete":                                                      "[{gone packer}]",
		"net user packer":                                                              "[]",
		"net user guest /active:yes":                                                   "[{freed guest}]",
		"net user Administrator /active:no":                                            "[{barred administrator} {gone administrator}]",
		`net localgroup administrators corp\builders /add`:                             `[{joined corp\builders}]`,
		`net localgroup "Remote Desktop Users" builder /add`:                           "[]",
		"net localgroup Administrators a b /delete":                                    "[{parted a} {parted b}]",
		"net localgroup Administrators":                                                "[]",
		"New-LocalUser -Name Packer -NoPassword":                                       "[{made packer}]",
		"New-LocalUser packer":                                                         "[{made packer}]",
		"Get-LocalUser packer | Remove-LocalUser":                                      "[{gone *}]",
		"Disable-LocalUser -Name vagrant":                                              "[{gone vagrant}]",
		"Disable-LocalUser Administrator":                                              "[{barred administrator} {gone administrator}]",
		"Enable-LocalUser -Name Administrator":                                         "[{freed administrator}]",
		"Rename-LocalUser -Name Administrator -NewName a":                              "[{barred administrator}]",
		"Rename-LocalUser -Name b -NewName a":                                          "[]",
		"Add-LocalGroupMember -Group Administrators -Member a, 'CORP\\b'":              `[{joined a} {joined corp\b}]`,
		"Add-LocalGroupMember Administrators a":                                        "[{joined a}]",
		"Add-LocalGroupMember -Group 'BUILTIN\\Administrators' a":                      "[{joined a}]",
		"Add-LocalGroupMember -SID S-1-5-32-544 -Member \"$env:COMPUTERNAME\\packer\"": "[{joined packer}]",
		"Add-LocalGroupMember -Group Users -Member a":                                  "[]",
		"Remove-LocalGroupMember -Group Administrators -Member a":                      "[{parted a}]",
		"$c.Create('User', 'packer')":                                                  "[{made packer}]",
		"echo 'net user packer Pa55 /add'":                                             "[]",
	} {
		have := []Event{}
		for _, c := range winscript.Run(script, nil).Commands {
			have = append(have, Accounts(c)...)
		}
		if got := fmt.Sprint(have); got != want {
			t.Errorf("%s: want %s, have %s", script, want, got)
		}
	}
}
