package action

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// WaitRollout waits until every pod of a DaemonSet is of its newest revision.
type WaitRollout struct {
	defaults
	Object inventory.Object
	// Provisioner is the driver that its pods register.
	Provisioner string
	Strategy    string
	// Ready is how many pods are to be ready, of whatever revision; 0 where the
	// revision counts. oc rollout status takes no OnDelete DaemonSet.
	Ready int32
}

func (a WaitRollout) apply(inv *inventory.Inventory) {
	if d := driver(inv, a.Object); d != nil {
		settled(inv, d)
	}
}

func (a WaitRollout) registers() registration { return registration{a.Object, a.Provisioner} }

func (WaitRollout) rank() int { return rankWait }
