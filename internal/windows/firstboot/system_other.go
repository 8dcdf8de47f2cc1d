//go:build !windows

package firstboot

import "github.com/winbake/winbake/internal/base/fault"

// Local refuses: Windows Setup and its event log are on Windows alone.
func Local() (System, error) {
	return nil, &fault.Error{What: "this isn't a Windows node", Fix: "run it on the node; bake template --first-boot-check makes an image whose clones do"}
}
