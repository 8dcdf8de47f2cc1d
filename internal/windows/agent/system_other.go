//go:build !windows

package agent

import "github.com/winbake/winbake/internal/base/fault"

// Local refuses: there is a service manager on Windows alone.
func Local() (System, Dirs, error) {
	return nil, Dirs{}, &fault.Error{What: "this isn't a Windows node", Fix: "run it on the node, or reach it from here: verify node --ssh USER@HOST"}
}
