package action

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// EnableMigration opts vSphere's in-tree volumes in to CSI.
type EnableMigration struct{}

const migrates = "CSIWithMigrationDriver"

func (EnableMigration) write(r *record) {
	r.say("enable-migration", "let OpenShift serve vSphere's in-tree volumes by CSI (4.13.10 or newer)")
	r.Object = "Storage cluster"
	r.run("oc", "patch", "storage", "cluster", "--type=merge", "--patch", `{"spec":{"vsphereStorageDriver":"`+migrates+`"}}`)
	r.Done = r.is(migrates, "oc", "get", "storage", "cluster", "-o", "jsonpath={.spec.vsphereStorageDriver}")
	r.NoUndo = "OpenShift doesn't take volumes back from CSI"
	r.Judge = "whether all volumes and the vCenter fit: https://access.redhat.com/articles/7011683"
}

// Apply notes the choice.
func (EnableMigration) Apply(inv *inventory.Inventory) { inv.Cluster.VSphereStorageDriver = migrates }

// AckGate acknowledges what an update waits for.
type AckGate struct {
	Key string
	// Applies says whom it concerns, and what must be true first.
	Applies string
}

func (a AckGate) write(r *record) {
	r.say("ack-gate", "acknowledge %s", a.Key)
	r.Object = "ConfigMap openshift-config/admin-acks"
	r.run("oc", "-n", "openshift-config", "patch", "configmap", "admin-acks", "--type=merge", "--patch", fmt.Sprintf(`{"data":{%q:"true"}}`, a.Key))
	r.done("oc", "-n", "openshift-config", "get", "configmap", "admin-acks", "-o", "go-template={{index .data "+fmt.Sprintf("%q", a.Key)+"}}", raw("| grep -qx true"))
	r.undo("oc", "-n", "openshift-config", "patch", "configmap", "admin-acks", "--type=merge", "--patch", fmt.Sprintf(`{"data":{%q:null}}`, a.Key))
	r.Judge = "whether its condition is met; it applies to: " + a.Applies
}

// Apply notes the acknowledgement.
func (a AckGate) Apply(inv *inventory.Inventory) {
	if c := &inv.Cluster; !slices.Contains(c.AdminAcks, a.Key) {
		c.AdminAcks = append(slices.Clip(c.AdminAcks), a.Key)
	}
}

// SetChannel chooses where updates come from.
type SetChannel struct {
	nothing
	Channel string
	// Was is the channel now, "" where that isn't known.
	Was string
}

func (a SetChannel) write(r *record) {
	r.say("set-channel", "take updates from the channel %s", a.Channel)
	r.Object = "ClusterVersion version"
	r.run("oc", "adm", "upgrade", "channel", a.Channel)
	r.done("oc", "get", "clusterversion", "version", "-o", "jsonpath={.spec.channel}", raw("| grep -qxF"), r.or(a.Channel))
	if a.Was != "" {
		r.undo("oc", "adm", "upgrade", "channel", a.Was)
		return
	}
	r.NoUndo = "the channel before isn't known; a channel alone changes nothing"
}

// UpdateControlPlane brings the control plane, and with it the Linux drivers, to
// a release.
type UpdateControlPlane struct {
	// To may lack its patch: then it is asked for.
	To version.OpenShift
	// Kubernetes is the API server's then, "" where the catalog doesn't know it.
	Kubernetes string
	// Linux are the DaemonSets that move with it, Migrated the in-tree plugins whose
	// volumes CSI serves then.
	Linux    []inventory.Object
	Migrated []string
}

func (a UpdateControlPlane) write(r *record) {
	r.say("update-control-plane", "update the cluster to %s", a.To)
	r.Object = "ClusterVersion version"
	r.Needs = []string{"the cluster is offered the release: oc adm upgrade lists it", "every cluster operator is available, and etcd is backed up"}
	flag, value := any("--to="+a.To.String()), any(a.To.String())
	if a.To.Patch < 0 {
		ask := finding.Ask{Name: "TO", Text: "the release of " + a.To.MinorString() + " to update to, as oc adm upgrade lists it", Command: "oc adm upgrade"}
		flag, value = asked{"--to=", ask}, asked{"", ask}
	}
	history := []any{"oc", "get", "clusterversion", "version", "-o", `jsonpath={range .status.history[?(@.state=="Completed")]}{.version}{"\n"}{end}`}
	r.run("oc", "adm", "upgrade", flag)
	if a.To.Patch < 0 {
		r.done(history, raw("| grep -q --"), fmt.Sprintf(`^%d\.%d\.`, a.To.Major, a.To.Minor))
	} else {
		r.Done = r.is(value, history...)
	}
	r.NoUndo = "OpenShift can't be taken back to an older minor"
}

// Apply moves the release. OpenShift's Linux drivers move with it: what was read
// of them is no more true.
func (a UpdateControlPlane) Apply(inv *inventory.Inventory) {
	c := &inv.Cluster
	c.OpenShift, c.Updating, c.Available = a.To.String(), "", nil
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
	nothing
	Pool   string
	Resume bool
}

func (a PausePool) write(r *record) {
	paused, word := "true", "pause the machine config pool %s: its nodes stay at their release"
	if a.Resume {
		paused, word = "false", "resume the machine config pool %s, and wait until its nodes have followed"
	}
	patch := func(to string) []any {
		return []any{"oc", "patch", "machineconfigpool", a.Pool, "--type=merge", "--patch", `{"spec":{"paused":` + to + `}}`}
	}
	r.say(map[bool]string{false: "pause-pool", true: "resume-pool"}[a.Resume], word, a.Pool)
	r.Object = "MachineConfigPool " + a.Pool
	r.run(patch(paused)...)
	get := r.is(paused, "oc", "get", "machineconfigpool", a.Pool, "-o", "jsonpath={.spec.paused}")
	r.Done = get
	if a.Resume {
		r.wait("oc", "wait", "machineconfigpool", a.Pool, "--for=condition=Updated=True", "--timeout=4h")
		r.NoUndo = "its nodes follow at once"
		return
	}
	r.undo(patch("false")...)
}
