package vcenter

import (
	"maps"
	"testing"

	"github.com/winbake/winbake/test/winenode"
)

// TestEnvironment: what Packer's provisioner gives a script is read back, quotes
// and all.
func TestEnvironment(t *testing.T) {
	have := environment([]winenode.File{
		{Path: `c:\Windows\Temp\packer-ps-env-vars-1-2.ps1`, Data: []byte("$env:A=\"C:\\b c\"; $env:KEYS=\"x `\"y`\" ``z `$w\n2\"; $env:EMPTY=\"\"; ")},
		{Path: `c:\Windows\Temp\script-1.ps1`, Data: []byte(`$env:B="c"`)},
	})
	if want := map[string]string{"A": `C:\b c`, "KEYS": "x \"y\" `z $w\n2", "EMPTY": ""}; !maps.Equal(have, want) {
		t.Errorf("%q, want %q", have, want)
	}
}

// TestPasswordOfAnswerFile: the build's own password isn't taken for one that is
// written down in a template.
func TestPasswordOfAnswerFile(t *testing.T) {
	const file = "<AdministratorPassword>\n  <Value>%s</Value></AdministratorPassword><MetaData><Value>Windows</Value></MetaData>"
	const want = "<AdministratorPassword>\n  <Value>${password}</Value></AdministratorPassword><MetaData><Value>Windows</Value></MetaData>"
	if have := string(password.ReplaceAll([]byte(file), []byte("$1$${password}$2"))); have != want {
		t.Errorf("%s", have)
	}
}
