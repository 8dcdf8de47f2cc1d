// Package after holds the check after an update (AFTER).
package after

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/rules/intree"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "AFTER001", Needs: rules.NeedsDrivers, Cluster: afterRollouts, Asks: rules.OfState},
	{ID: "AFTER002", Needs: []inventory.Resource{inventory.Volumes, inventory.Claims}, Cluster: afterMigrated, Asks: rules.OfRest},
	{ID: "AFTER003", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: afterNodes, Asks: rules.OfRest},
	{ID: "AFTER004", Needs: rules.NeedsNodes, Cluster: afterWindows, Asks: rules.OfRest},
}

// afterRollouts is AFTER001: an update or a rollout that isn't finished.
func afterRollouts(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Underway() {
		underWay(snap, report)
		return
	}
	for _, d := range snap.Drivers {
		if d.OS == "windows" && snapshot.ImagesRunning(d) > 1 && snap.Covered(inventory.Pods) {
			continue // SKEW006 says so
		}
		if r := d.Rollout; r != nil && (!r.Observed || r.Updated < r.Desired || d.OS != "windows" && r.Ready < r.Desired) {
			report(rolling(d))
		}
	}
}

// underWay reports, in the check after an update, that the update
// isn't complete. Rollouts that go with it aren't worth a word each.
func underWay(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase != snapshot.Now {
		return
	}
	c := snap.Inventory.Cluster
	f := rules.Finding{Severity: finding.Warn, Object: "OpenShift " + c.Updating, When: rules.During}
	f.Observed = fmt.Sprintf("the update from %s to %s isn't complete", cmp.Or(c.OpenShift, "an unknown release"), c.Updating)
	f.Expected = "a completed update"
	f.Why = "Linux drivers of both releases may run; what is said here is of the rest of the update, and the check after it is still to come"
	f.Do = []action.Action{action.ByHand{Text: "wait until it is complete, then run the check again", Look: [][]string{{"oc", "adm", "upgrade"}}}}
	f.NoStep = true
	f.Evidence = rules.Cite(c.Evidence)
	report(f)
}

func rolling(d *inventory.Driver) rules.Finding {
	r := d.Rollout
	f := rules.Finding{Severity: finding.Warn, Object: d.Object.String()}
	f.Observed = fmt.Sprintf("%d of %d pods are of the newest revision, %d are ready", r.Updated, r.Desired, r.Ready)
	if !r.Observed {
		f.Observed = "its status is of an older generation than its spec"
	}
	f.Expected = "a finished rollout"
	f.Why = "some nodes run another version of the driver than the DaemonSet names"
	f.Do = []action.Action{action.WaitRollout{Object: d.Object, Strategy: d.Strategy}}
	f.When, f.Evidence = rules.After, rules.Cite(d.Evidence[:min(2, len(d.Evidence))])
	return f
}

// afterMigrated is AFTER002: volumes and claims that should have been migrated
// and don't say so.
func afterMigrated(snap *snapshot.Snapshot, report rules.Report) {
	left := slices.DeleteFunc(slices.Clone(snap.Inventory.Leftovers), func(l inventory.Leftover) bool {
		m := snap.Catalog.MigrationOf(l.InTree, snap.FromMinor())
		byHand := l.ProvisionedBy == "" // kube-controller-manager never marks those
		return byHand || l.MigratedTo != "" && l.MigratedTo == l.Provisioner || m == nil || !snapshot.ByCSI(m.Linux)
	})
	for _, ls := range snapshot.GroupBy(left, func(l inventory.Leftover) string { return l.InTree + " " + l.Object.Kind }) {
		names := snapshot.Map(ls, func(l inventory.Leftover) string { return strings.TrimPrefix(l.Object.String(), l.Object.Kind+" ") })
		f := rules.Finding{Severity: finding.Warn, Object: ls[0].InTree}
		carry := map[bool]string{true: "doesn't", false: "don't"}[len(ls) == 1]
		f.Observed = fmt.Sprintf("%s %s carry pv.kubernetes.io/migrated-to: %s (%s)", inventory.Many(len(ls), ls[0].Object.Kind), carry, rules.SomeOf(names), ls[0].Provisioner)
		f.Expected = fmt.Sprintf("pv.kubernetes.io/migrated-to: %s; OpenShift %s serves them by CSI", ls[0].Provisioner, snap.FromMinor())
		f.Why = "kube-controller-manager writes the annotation when it moves a volume that it provisioned to CSI; without it, attaching, resizing and deleting may still take the in-tree way"
		f.Same = ls[0].Object.Kind
		f.Do, f.When = migrate(snap, ls[0]), rules.After
		f.Evidence = rules.Cite(snapshot.Map(ls, func(l inventory.Leftover) inventory.Evidence { return l.At }))
		report(f)
	}
}

// migrate is for what keeps volumes in-tree.
func migrate(snap *snapshot.Snapshot, l inventory.Leftover) []action.Action {
	if l.InTree == "kubernetes.io/vsphere-volume" && snap.Inventory.Cluster.VSphereStorageDriver != "CSIWithMigrationDriver" {
		return []action.Action{action.EnableMigration{}}
	}
	return []action.Action{action.ByHand{Text: "see that the storage operator is healthy and the CSIDriver is there", Look: [][]string{
		{"oc", "get", "clusteroperators", "storage", "kube-controller-manager"}, {"oc", "get", "csidriver", l.Provisioner},
	}}}
}

// afterNodes is AFTER003: nodes without the driver that serves in-tree volumes
// of Windows pods now.
func afterNodes(snap *snapshot.Snapshot, report rules.Report) {
	for _, use := range snap.InTreeUses() {
		if on, _ := snap.OnCSI(use.Plugin, snap.FromMinor()); on {
			intree.CheckNodes(snap, use, report)
		}
	}
	intree.UnknownVolumes(snap, report)
}

// afterWindows is AFTER004: Windows nodes that the update hasn't reached.
func afterWindows(snap *snapshot.Snapshot, report rules.Report) {
	for _, ns := range snapshot.GroupBy(snap.Nodes, func(n *inventory.Node) string { return behind(snap, n) }) {
		why := behind(snap, ns[0])
		if why == "" {
			continue
		}
		f := rules.Finding{Severity: finding.Warn, Object: "Windows nodes", When: rules.After}
		f.Observed = fmt.Sprintf("%s: %s", rules.SomeOf(snapshot.NodeNames(ns)), why)
		f.Expected = "Windows nodes of the cluster's release"
		f.Why = "kubelet, kube-proxy and csi-proxy of these nodes are older than those that WMCO brings now"
		if oldKubelet(snap, ns[0]) {
			f.Why += ", and the next update may refuse such a kubelet"
		}
		f.Same = why
		f.Do = remedy.UpdateWMCO(snap, snap.FromMinor())
		if slices.ContainsFunc(ns, func(n *inventory.Node) bool { return snap.Arriving(n) != nil }) {
			f.Do, f.NoStep = nil, true
			f.Remedy = "do what PROXY001 asks for first: the WMCO that is about to configure them ships no csi-proxy"
		}
		f.Evidence = rules.Cite(snapshot.Map(ns, func(n *inventory.Node) inventory.Evidence {
			return inventory.Evidence{Where: n.At.Where, Text: strings.TrimSpace("kubelet " + n.Kubelet + " WMCO " + n.WMCO)}
		}))
		report(f)
	}
}

// behind says how a node lags behind the cluster, "" if it doesn't or if
// nothing tells (NODE001 and NODE002 judge what can't be read).
func behind(snap *snapshot.Snapshot, n *inventory.Node) string {
	if n.WMCO != "" && n.DesiredWMCO != "" && n.WMCO != n.DesiredWMCO {
		return fmt.Sprintf("configured by WMCO %s, to be configured by %s", n.WMCO, n.DesiredWMCO)
	}
	node, err := version.ParseWMCO(n.WMCO)
	if operator, opErr := version.ParseWMCO(snap.Inventory.Cluster.WMCO); err == nil && opErr == nil && node.Compare(operator) < 0 {
		return fmt.Sprintf("configured by WMCO %s, the operator is %s", n.WMCO, snap.Inventory.Cluster.WMCO)
	}
	if oldKubelet(snap, n) {
		server, _, _ := snap.APIServer()
		return fmt.Sprintf("kubelet %s, the API server is %s", n.Kubelet, cmp.Or(snap.Inventory.Cluster.Kubernetes, server.MinorString()))
	}
	return ""
}

// oldKubelet tells whether a node's kubelet is minors older than the API server.
func oldKubelet(snap *snapshot.Snapshot, n *inventory.Node) bool {
	kubelet, err := version.ParseKubernetes(n.Kubelet)
	server, _, ok := snap.APIServer()
	return err == nil && ok && (kubelet.Major != server.Major || kubelet.Minor < server.Minor)
}
