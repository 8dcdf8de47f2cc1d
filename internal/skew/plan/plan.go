// Package plan puts what rules ask for in order: before, during and after each
// hop. Each action is applied to a copy of the inventory, and the rules judge that
// before the next step is chosen. It has no rule of its own.
package plan

import (
	"cmp"
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// released are actions that let the nodes go which WMCO holds back: without, an
// update of WMCO that waits for its nodes waits for ever.
func released(snap *snapshot.Snapshot, list []action.Action) []action.Action {
	i := slices.IndexFunc(list, func(a action.Action) bool { up, ok := a.(action.UpdateWMCO); return ok && held(snap, up.OpenShift) })
	if i < 0 {
		return list
	}
	up := list[i].(action.UpdateWMCO)
	up.Held = true
	return slices.Concat(list[:i], []action.Action{up, action.ReleaseNodes{Provisioner: moved(snap), WMCO: up.WMCO}}, list[i+1:])
}

// held tells whether WMCO for a release holds nodes back until an admin releases
// each: those with volumes that it configures for CSI and no WMCO has before, on
// Azure and vSphere. It doesn't look whether a volume is in-tree. WMCO 8.1 goes by
// claims, WMCO 9 by volumes that are attached: openshift/windows-machine-config-operator,
// upgradeBlocked in controllers/controllers.go of release-4.13 and release-4.14.
func held(snap *snapshot.Snapshot, minor string) bool {
	return slices.ContainsFunc(snap.Inventory.Volumes, func(u inventory.VolumeUse) bool {
		waits := len(snap.Nodes) == 0 || slices.ContainsFunc(snap.Nodes, func(n *inventory.Node) bool {
			return (u.Node == "" || u.Node == n.Name) && n.Labels[action.ConfiguredForCSI] != "true"
		})
		if !waits {
			return false
		}
		d := snap.Catalog.ByProvisioner(u.Provisioner)
		platform := snap.Inventory.Cluster.Platform
		if d != nil {
			platform = cmp.Or(platform, d.Platform)
		}
		switch {
		case !action.ConfiguresCSI(minor, platform) || platform != "Azure" && platform != "VSphere":
			return false
		case minor == "4.13":
			return u.Claim != ""
		}
		return d != nil && (d.Name == "azure-disk" || d.Name == "vsphere")
	})
}

// moved is the driver that a hop moves in-tree volumes to, which a node must have
// before it is released; "" for none.
func moved(snap *snapshot.Snapshot) string {
	for _, use := range snap.InTreeUses() {
		on, _ := snap.OnCSI(use.Plugin, snap.ToMinor())
		if already, _ := snap.OnCSI(use.Plugin, snap.FromMinor()); on && !already && !snap.NotMigrated(use) {
			return use.Provisioner
		}
	}
	return ""
}
