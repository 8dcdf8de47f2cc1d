package action

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// HandOver takes an admin's DaemonSet away where an operator of OpenShift has brought
// one for the same driver. The kubelet takes one driver of a name on a node, so the
// operator's registers when the admin's is gone: openshift/enhancements#2072.
type HandOver struct {
	defaults
	Object inventory.Object
	// Provisioner is the driver that both register.
	Provisioner string
}

// apply leaves one DaemonSet, which the operator keeps at the Linux driver's version:
// what was read of the admin's is no more true.
func (a HandOver) apply(inv *inventory.Inventory) {
	if d := driver(inv, a.Object); d != nil {
		d.OperatorManaged, d.Owners, d.Image, d.Version = true, nil, inventory.Image{}, inventory.VersionFact{}
		settled(inv, d)
	}
}

func (HandOver) rank() int { return rankRemove }

func (a HandOver) changes() []inventory.Object { return []inventory.Object{a.Object} }
