package hostprocess

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// NeedsHostProcess tells whether HP001 reports the driver.
func NeedsHostProcess(v *snapshot.View) bool {
	return !v.DaemonSet.HostProcess && !v.FollowsLinux() && v.Line.HostProcessOnly()
}

func pipeEvidence(d *inventory.Driver) []inventory.Evidence {
	return snapshot.Map(d.Pipes, func(p inventory.Pipe) inventory.Evidence { return p.At })
}
