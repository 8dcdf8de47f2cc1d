package vcenter

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode"
)

// TestBroken: what Windows Setup or PowerShell stops at is told with its place. The
// build's own password isn't taken for one that is written down in a template.
func TestBroken(t *testing.T) {
	const file = "<unattend xmlns=\"urn:schemas-microsoft-com:unattend\">\n<settings pass=\"oobeSystem\"><component name=\"Microsoft-Windows-Shell-Setup\" processorArchitecture=\"amd64\" publicKeyToken=\"31bf3856ad364e35\" language=\"neutral\" versionScope=\"nonSxS\">\n" +
		"<UserAccounts><AdministratorPassword><Value>secret</Value></AdministratorPassword></UserAccounts><AutoLogon><Enabled>true</Enabled></AutoLogon></component></settings></unattend>"
	files := []winenode.File{
		{Path: `D:\autounattend.xml`, Data: []byte(file)},
		{Path: `C:\unattend.xml`, Data: []byte(file)},
		{Path: `D:\other.xml`, Data: []byte("<not xml")},
		{Path: `D:\good.ps1`, Data: []byte("Write-Output 1\n")},
		{Path: `D:\bad.ps1`, Data: []byte("Write-Output 1\n}\n")},
	}
	want := []string{`C:\unattend.xml:3: AutoLogon is on`, `D:\other.xml:1: `, `D:\bad.ps1:2:1: Unexpected token '}'`}
	have := broken(files)
	if !slices.EqualFunc(have, want, strings.HasPrefix) {
		t.Errorf("have %q, want %q", have, want)
	}
}
