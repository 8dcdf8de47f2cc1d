//go:build !windows

package imagecheck

import (
	"context"

	"github.com/winbake/winbake/internal/base/fault"
)

// Local fails: there is no Windows here.
func Local(context.Context) (Windows, error) {
	return nil, &fault.Error{What: "this isn't a Windows machine", Fix: "run verify.exe node check --image in the guest, before sysprep"}
}
