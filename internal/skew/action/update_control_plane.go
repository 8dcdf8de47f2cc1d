package action

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// UpdateControlPlane brings the control plane, and with it the Linux drivers, to
// a release.
type UpdateControlPlane struct {
	defaults
	// To may lack its patch: then it is asked for.
	To version.OpenShift
	// NoChannel: no cluster is offered the release yet.
	NoChannel bool
	// Later are the findings that verify skew gives before the update, ID=object, and
	// that are acted upon during it or after it.
	Later []string
	// Risky: the cluster is offered it with known risks alone.
	Risky bool
	// Hosted: a person does it on the management cluster, with the Channel, "" for the
	// one that it is in. What is changed in the hosted cluster is put back.
	Hosted  bool
	Channel string
	// AWS: it may be one of Red Hat OpenShift Service on AWS.
	AWS bool
	// Kubernetes is the API server's then, "" where the catalog doesn't know it.
	Kubernetes string
	// Linux are the DaemonSets that move with it, Migrated the in-tree plugins whose
	// volumes CSI serves then.
	Linux    []inventory.Object
	Migrated []string
}

func (a UpdateControlPlane) kind() string {
	if a.Hosted {
		return "update-hosted"
	}
	return "update-control-plane"
}

// apply moves the release. OpenShift's Linux drivers move with it: what was read
// of them is no more true.
func (a UpdateControlPlane) apply(inv *inventory.Inventory) {
	c := &inv.Cluster
	c.OpenShift, c.Updating, c.Available, c.Conditional = a.To.String(), "", nil, nil
	c.Kubernetes = cmp.Or(a.Kubernetes, c.Kubernetes)
	inv.Drivers = slices.DeleteFunc(slices.Clone(inv.Drivers), func(d inventory.Driver) bool { return slices.Contains(a.Linux, d.Object) })
	inv.Leftovers = slices.Clone(inv.Leftovers)
	for i := range inv.Leftovers {
		if l := &inv.Leftovers[i]; slices.Contains(a.Migrated, l.InTree) {
			l.MigratedTo = l.Provisioner
		}
	}
}
