package snapshot

import (
	"cmp"
	"regexp"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Scope are the Windows nodes that a DaemonSet's pods run on, in name order.
func (snap *Snapshot) Scope(d *inventory.Driver) []*inventory.Node {
	type scope struct{ *inventory.Driver }
	return Memo(snap, scope{d}, func() []*inventory.Node {
		return Select(snap.Nodes, func(n *inventory.Node) bool { return d.Scheduling.Matches(*n) })
	})
}

// SeenWorking tells whether d is seen to start and register on n as it is: the pods of
// its present template are all ready, and the node's CSINode lists the driver,
// which no other DaemonSet can have brought. Readiness and registration don't
// show that a volume can be mounted: the calls for that dial csi-proxy later.
func (snap *Snapshot) SeenWorking(d *inventory.Driver, n *inventory.Node) bool {
	r := d.Rollout
	if r == nil || !r.Observed || r.Desired == 0 || r.Ready < r.Desired || r.Updated < r.Desired {
		return false
	}
	c := snap.CSINode(n.Name)
	return c != nil && d.Provisioner != "" && slices.Contains(c.Drivers, d.Provisioner) &&
		!slices.ContainsFunc(snap.DaemonSetsOf(d.Provisioner), func(o *inventory.Driver) bool { return o != d && slices.Contains(snap.Scope(o), n) })
}

// Operated tells whether an operator of OpenShift deployed a Windows DaemonSet
// and keeps it at the Linux version. An operator's marks alone don't tell:
// a DaemonSet made from the YAML of the Linux one has them too. So one
// of the releases that may have deployed it must be one that does such a thing.
func (snap *Snapshot) Operated(d *inventory.Driver) bool {
	if !d.OperatorManaged {
		return false
	}
	return slices.ContainsFunc(snap.deployers(), func(minor string) bool {
		r := snap.Catalog.Release(minor)
		return r != nil && slices.Contains(r.WindowsManaged, d.Line)
	})
}

// deployers are the releases whose operators may have deployed what was read:
// the one that the cluster runs, and that of an update which isn't complete.
// Where the former isn't known it is the first that is.
func (snap *Snapshot) deployers() []string {
	list := []string{snap.Inventory.Cluster.Updating}
	for _, stop := range snap.Route.Stops {
		if !stop.IsZero() {
			return append(list, stop.MinorString())
		}
	}
	return list
}

// DaemonSetsOf are the Windows DaemonSets of the inventory of a provisioner.
func (snap *Snapshot) DaemonSetsOf(provisioner string) []*inventory.Driver {
	return Memo(snap, "Windows DaemonSets of "+provisioner, func() []*inventory.Driver {
		return Select(snap.Windows, func(d *inventory.Driver) bool { return d.Provisioner == provisioner })
	})
}

// MatchesNoNode tells whether a DaemonSet takes none of the Windows nodes that
// there are.
func (snap *Snapshot) MatchesNoNode(d *inventory.Driver) bool {
	return len(snap.Inventory.Nodes) > 0 && snap.KnownUnmatched(d)
}

// atLine is the line and column behind a file's name.
var atLine = regexp.MustCompile(`(:[0-9]+)+$`)

// FileOf is the file that a driver was read from.
func FileOf(d *inventory.Driver) string {
	where := d.Version.At.Where
	for _, e := range d.Evidence {
		where = cmp.Or(where, e.Where)
	}
	file := atLine.ReplaceAllString(where, "")
	if file == "" || file == "-" {
		return "driver.yaml"
	}
	return file
}

// WindowsDaemonSets are the Windows DaemonSets of this phase.
func (snap *Snapshot) WindowsDaemonSets() []*inventory.Driver {
	return Map(snap.Views, func(v *View) *inventory.Driver { return v.DaemonSet })
}

// LineAt is the catalog's line of a DaemonSet's version, nil where either isn't
// known.
func (snap *Snapshot) LineAt(d *inventory.Driver) *catalog.Line {
	type line struct{ *inventory.Driver }
	return Memo(snap, line{d}, func() *catalog.Line {
		if d.Version.Known {
			return snap.LineOf(d).Line(d.Version.Version)
		}
		return nil
	})
}

// KnownUnmatched tells whether it is known that no Windows node matches d.
func (snap *Snapshot) KnownUnmatched(d *inventory.Driver) bool {
	return snap.Inventory.Read[inventory.Nodes].Complete && len(snap.Scope(d)) == 0
}

// Serving is the Windows DaemonSet of the provisioner that covers n; nil for
// none.
func (snap *Snapshot) Serving(provisioner string, n *inventory.Node) *inventory.Driver {
	return First(snap.WindowsDaemonSets(), func(d *inventory.Driver) bool {
		return d.Provisioner == provisioner && slices.Contains(snap.Scope(d), n)
	})
}

// ImagesRunning is how many images the pods of a DaemonSet run.
func ImagesRunning(d *inventory.Driver) int {
	return len(Unique(Map(d.Running, func(r inventory.Running) string { return cmp.Or(r.Image.Digest, r.Image.Reference) })))
}

// LineOf is what the catalog knows of a driver.
func (snap *Snapshot) LineOf(d *inventory.Driver) *catalog.Driver {
	if d.Line != "" {
		return snap.Catalog.Driver(d.Line)
	}
	if d.Provisioner == "" {
		return nil
	}
	return snap.Catalog.ByProvisioner(d.Provisioner)
}

// Unmounted are the groups of csi-proxy that line dials and of which d mounts no
// version.
func Unmounted(line *catalog.Line, d *inventory.Driver) []catalog.APIUse {
	return Select(line.API, func(u catalog.APIUse) bool {
		return !slices.ContainsFunc(d.Pipes, func(p inventory.Pipe) bool { return p.Group == u.Group && slices.Contains(u.Versions, p.Version) })
	})
}

// Using parts nodes: those where a Windows pod has a volume of the provisioner, and
// the others. csi: in-tree volumes that it serves don't count.
func (snap *Snapshot) Using(provisioner string, csi bool, nodes []*inventory.Node) (used, unused []*inventory.Node) {
	type volumes struct {
		of  string
		csi bool
	}
	on := Memo(snap, volumes{provisioner, csi}, func() map[string]bool {
		on := map[string]bool{}
		for _, u := range snap.volumes[provisioner] {
			on[u.Node] = on[u.Node] || !csi || u.InTree == ""
		}
		return on
	})
	return Part(nodes, func(n *inventory.Node) bool { return on[n.Name] })
}

// InTreeUse is one in-tree plugin and the volumes of it that Windows pods use.
type InTreeUse struct {
	Plugin      string
	Provisioner string
	Uses        []inventory.VolumeUse
	// Idle: of workloads alone that are scaled to 0 pods.
	Idle bool
}

// InTreeUses are the in-tree plugins in use by Windows pods, sorted. A pod that
// no node was found for yet counts; pods on Linux aren't in the inventory.
func (snap *Snapshot) InTreeUses() []InTreeUse {
	return Memo(snap, "in-tree uses", func() []InTreeUse {
		inTree := func(list []inventory.VolumeUse) [][]inventory.VolumeUse {
			return GroupBy(Select(list, func(u inventory.VolumeUse) bool { return u.InTree != "" }), func(u inventory.VolumeUse) string { return u.InTree })
		}
		var out []InTreeUse
		used := inTree(snap.Inventory.Volumes)
		for i, us := range slices.Concat(used, inTree(snap.Inventory.Idle)) {
			use := InTreeUse{Plugin: us[0].InTree, Provisioner: us[0].Provisioner, Uses: us, Idle: i >= len(used)}
			if slices.ContainsFunc(out, func(u InTreeUse) bool { return u.Plugin == use.Plugin }) {
				continue // its pods tell more
			}
			if d := snap.Catalog.ByInTree(use.Plugin); use.Provisioner == "" && d != nil {
				use.Provisioner = d.Provisioner
			}
			out = append(out, use)
		}
		return out
	})
}

// NeverMigrated are platforms whose in-tree volumes WMCO never moves on Windows nodes: they had
// no Windows storage before OpenShift 4.12.
var NeverMigrated = []string{"AWS", "GCP"}

// OnCSI tells whether a release serves an in-tree plugin's volumes by CSI on
// Windows nodes; known is false where the catalog doesn't say.
func (snap *Snapshot) OnCSI(plugin, minor string) (on, known bool) {
	m := snap.Catalog.MigrationOf(plugin, minor)
	if m == nil {
		return false, false
	}
	return ByCSI(m.Windows), true
}

// ByCSI tells whether CSI serves the volumes.
func ByCSI(s catalog.MigrationState) bool {
	return s == catalog.MigrationOn || s == catalog.MigrationRemoved
}

// NotMigrated tells whether use falls to INTREE002: nothing migrates it.
func (snap *Snapshot) NotMigrated(use InTreeUse) bool {
	d := snap.Catalog.ByInTree(use.Plugin)
	if d == nil || !slices.Contains(NeverMigrated, d.Platform) {
		return false
	}
	already, known := snap.OnCSI(use.Plugin, snap.FromMinor())
	return known && !already
}

// FirstVSphere is the first release whose vSphere operator switches the
// driver's csi-windows-support on; versions 3.0 to 3.4 refuse Windows without.
const FirstVSphere = "4.14"

// BeforeVSphere tells whether a minor is older than FirstVSphere.
func BeforeVSphere(minor string) bool {
	o, err := version.ParseOpenShift(minor)
	return err == nil && o.CompareMinor(version.OpenShift{Major: 4, Minor: 14}) < 0
}

// HasInTree tells whether the cluster has volumes of an in-tree plugin.
func (snap *Snapshot) HasInTree(plugin string) bool {
	return slices.ContainsFunc(snap.Inventory.Leftovers, func(l inventory.Leftover) bool { return l.InTree == plugin }) ||
		slices.ContainsFunc(snap.Inventory.Volumes, func(u inventory.VolumeUse) bool { return u.InTree == plugin })
}

// NeverMeet tells whether no node can have both: the selectors want two values of
// one label.
func NeverMeet(a, b inventory.Scheduling) bool {
	for key, value := range a.NodeSelector {
		if other, both := b.NodeSelector[key]; both && other != value {
			return true
		}
	}
	return false
}
