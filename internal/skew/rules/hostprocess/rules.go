// Package hostprocess holds the rules on how a driver's container reaches the
// node (HP).
package hostprocess

import (
	"embed"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, hp001, hp002, hp003, hp004, hp005)

// NeedsHostProcess tells whether HP001 reports the driver.
func NeedsHostProcess(v *snapshot.View) bool {
	return !v.DaemonSet.HostProcess && !v.FollowsLinux() && v.Line.HostProcessOnly()
}

func pipeEvidence(d *inventory.Driver) []inventory.Evidence {
	return snapshot.Map(d.Pipes, func(p inventory.Pipe) inventory.Evidence { return p.At })
}
