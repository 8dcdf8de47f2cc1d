//go:build !windows

package agent

import "github.com/winbake/winbake/internal/base/fault"

// Local refuses: there is a service manager on Windows alone.
func Local() (System, Dir, error) {
	return nil, "", &fault.Error{What: "this isn't a Windows node", Fix: "run it on the node"}
}
