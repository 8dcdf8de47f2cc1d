package action

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// AckGate acknowledges what an update waits for.
type AckGate struct {
	Key string
	// Applies says whom it concerns, and what must be true first.
	Applies string
}

func (a AckGate) apply(inv *inventory.Inventory) {
	if c := &inv.Cluster; !slices.Contains(c.AdminAcks, a.Key) {
		c.AdminAcks = append(slices.Clip(c.AdminAcks), a.Key)
	}
}

// SetChannel chooses where updates come from.
type SetChannel struct {
	Channel string
	// Was is the channel now, "" where that isn't known.
	Was string
}

// UpdateControlPlane brings the control plane, and with it the Linux drivers, to
// a release.
type UpdateControlPlane struct {
	// To may lack its patch: then it is asked for.
	To version.OpenShift
	// Risky: the cluster is offered it with known risks alone.
	Risky bool
	// Hosted: a person does it on the management cluster, with the Channel, "" for the
	// one that it is in. What is changed in the hosted cluster is put back.
	Hosted  bool
	Channel string
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

// PausePool keeps a pool's machines at their release while the control plane
// moves on, Resume lets them follow.
type PausePool struct {
	Pool   string
	Resume bool
	// Was: it was paused before the plan, perhaps for another reason.
	Was bool
}

func (a PausePool) kind() string {
	if a.Resume {
		return "resume-pool"
	}
	return "pause-pool"
}

// SetPodSecurity lets privileged pods into a namespace.
type SetPodSecurity struct {
	Namespace string
	// Was are its labels now; nil where they weren't read.
	Was *inventory.Namespace
}

func (a SetPodSecurity) apply(inv *inventory.Inventory) {
	c := &inv.Cluster
	c.Namespaces = slices.Clone(c.Namespaces)
	n := c.Namespace(a.Namespace)
	if n == nil {
		c.Namespaces = append(c.Namespaces, inventory.Namespace{Name: a.Namespace})
		n = c.Namespace(a.Namespace)
	}
	n.Enforce, n.Sync = "privileged", "false"
}

// BindSCC lets a service account use the SCC privileged.
type BindSCC struct {
	Namespace, Account string
}

// UnlabelNodes takes a label off nodes.
type UnlabelNodes struct {
	Nodes      []string
	Key, Value string
}

func (a UnlabelNodes) apply(inv *inventory.Inventory) {
	for i := range inv.Nodes {
		if n := &inv.Nodes[i]; slices.Contains(a.Nodes, n.Name) {
			n.Labels = maps.Clone(n.Labels)
			delete(n.Labels, a.Key)
		}
	}
}

// become writes a driver over the one of its name, where there is one.
func become(inv *inventory.Inventory, to *inventory.Driver) {
	if to != nil && driver(inv, to.Object) != nil {
		put(inv, *to)
	}
}

func put(inv *inventory.Inventory, to inventory.Driver) {
	d := driver(inv, to.Object)
	if d == nil {
		inv.Drivers = append(slices.Clip(inv.Drivers), to)
		d = driver(inv, to.Object)
	}
	*d = to
	settled(inv, d)
}

// settled makes a DaemonSet registered on every node that it takes. Its rollout
// is one that nobody has seen: that a driver starts is judged by what is derived
// then.
func settled(inv *inventory.Inventory, d *inventory.Driver) {
	d.Running, d.Rollout = nil, nil
	if d.Provisioner == "" {
		return
	}
	inv.CSINodes = slices.Clone(inv.CSINodes)
	for i := range inv.CSINodes {
		c := &inv.CSINodes[i]
		n := slices.IndexFunc(inv.Nodes, func(n inventory.Node) bool { return n.Name == c.Name })
		if n >= 0 && d.Scheduling.Matches(inv.Nodes[n]) && !slices.Contains(c.Drivers, d.Provisioner) {
			c.Drivers = append(slices.Clip(c.Drivers), d.Provisioner)
		}
	}
}

// cutTag parts a reference that has no digest.
func cutTag(ref string) (repository, tag string) {
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		return ref[:colon], ref[colon+1:]
	}
	return ref, ""
}

func driver(inv *inventory.Inventory, o inventory.Object) *inventory.Driver {
	i := slices.IndexFunc(inv.Drivers, func(d inventory.Driver) bool { return d.Object == o })
	if i < 0 {
		return nil
	}
	return &inv.Drivers[i]
}
