package deploy

import (
	"os"
	"path/filepath"
	"runtime"

	"github.com/winbake/winbake/payload"
)

// BesideProgram reads the verify.exe that is next to this program, as make bin
// and a release's archive have it, and returns where it is or should be. On
// Windows the one next to it is the verify of people.
func BesideProgram() (data []byte, path string, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, "", err
	}
	path = filepath.Join(filepath.Dir(self), payload.VerifyName)
	if _, err := os.Stat(path); err != nil || runtime.GOOS == "windows" {
		path = filepath.Join(filepath.Dir(self), "node", payload.VerifyName)
	}
	data, err = os.ReadFile(path)
	return data, path, err
}
