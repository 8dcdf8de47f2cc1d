package snapshot

import (
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

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
}

// InTreeUses are the in-tree plugins in use by Windows pods, sorted. A pod that
// no node was found for yet counts; pods on Linux aren't in the inventory.
func (snap *Snapshot) InTreeUses() []InTreeUse {
	return Memo(snap, "in-tree uses", func() []InTreeUse {
		uses := Select(snap.Inventory.Volumes, func(u inventory.VolumeUse) bool { return u.InTree != "" })
		var out []InTreeUse
		for _, us := range GroupBy(uses, func(u inventory.VolumeUse) string { return u.InTree }) {
			use := InTreeUse{Plugin: us[0].InTree, Provisioner: us[0].Provisioner, Uses: us}
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
