package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

const migrationDesign = "https://github.com/kubernetes/enhancements/blob/master/keps/sig-storage/625-csi-migration/README.md"

// afterRollouts is AFTER001: an update or a rollout that isn't finished.
func afterRollouts(w *world) []draft {
	if w.underway() {
		return w.halfway()
	}
	var said []draft
	for i := range w.inv.Drivers {
		d := &w.inv.Drivers[i]
		if d.OS == "windows" && runs(d) > 1 && w.covered(inventory.Pods) {
			continue // SKEW006 says so
		}
		if r := d.Rollout; r != nil && (!r.Observed || r.Updated < r.Desired || d.OS != "windows" && r.Ready < r.Desired) {
			said = append(said, w.rolling(d))
		}
	}
	return said
}

// halfway tells whoever asks for the check after an update that the update
// isn't complete. Rollouts that go with it aren't worth a word each.
func (w *world) halfway() []draft {
	if w.Phase != Now {
		return nil
	}
	c := w.inv.Cluster
	f := draft{Severity: finding.Warn, Object: "OpenShift " + c.Updating, When: during}
	f.Observed = fmt.Sprintf("the update from %s to %s isn't complete", cmp.Or(c.OpenShift, "an unknown release"), c.Updating)
	f.Expected = "a completed update"
	f.Why = "Linux drivers of both releases may run; what is said here is of the rest of the update, and the check after it is still to come"
	f.Remedy = "wait until it is complete (`oc adm upgrade status`), then run the check again"
	f.NoStep = true
	f.Evidence = cite(c.Evidence)
	return []draft{f}
}

func (w *world) rolling(d *inventory.Driver) draft {
	r := d.Rollout
	f := draft{Severity: finding.Warn, Object: d.Object.String()}
	f.Observed = fmt.Sprintf("%d of %d pods are of the newest revision, %d are ready", r.Updated, r.Desired, r.Ready)
	if !r.Observed {
		f.Observed = "its status is of an older generation than its spec"
	}
	f.Expected = "a finished rollout"
	f.Why = "some nodes run another version of the driver than the DaemonSet names"
	f.Do = []action.Action{action.WaitRollout{Object: d.Object, Strategy: d.Strategy}}
	f.When = after
	f.Evidence = cite(d.Evidence[:min(2, len(d.Evidence))])
	return f
}

// afterMigrated is AFTER002: volumes and claims that should have been migrated
// and don't say so.
func afterMigrated(w *world) []draft {
	left := slices.DeleteFunc(slices.Clone(w.inv.Leftovers), func(l inventory.Leftover) bool {
		m := w.cat.MigrationOf(l.InTree, w.from())
		byHand := l.ProvisionedBy == "" // kube-controller-manager never marks those
		return byHand || l.MigratedTo != "" && l.MigratedTo == l.Provisioner || m == nil || !moved(m.Linux)
	})
	var said []draft
	for _, ls := range groups(left, func(l inventory.Leftover) string { return l.InTree + " " + l.Object.Kind }) {
		var names []string
		var at []inventory.Evidence
		for _, l := range ls {
			names = append(names, strings.TrimPrefix(l.Object.String(), l.Object.Kind+" "))
			at = append(at, l.At)
		}
		f := draft{Severity: finding.Warn, Object: ls[0].InTree}
		carry := map[bool]string{true: "doesn't", false: "don't"}[len(ls) == 1]
		f.Observed = fmt.Sprintf("%s %s carry pv.kubernetes.io/migrated-to: %s (%s)", many(len(ls), ls[0].Object.Kind), carry, someOf(names), ls[0].Provisioner)
		f.Expected = fmt.Sprintf("pv.kubernetes.io/migrated-to: %s; OpenShift %s serves them by CSI", ls[0].Provisioner, w.from())
		f.Why = "kube-controller-manager writes the annotation when it hands a volume that it provisioned over to CSI; without it, attaching, resizing and deleting may still take the in-tree way"
		f.Same = ls[0].Object.Kind
		f.Do, f.When = w.migrate(ls[0]), after
		f.Evidence = cite(at)
		said = append(said, f)
	}
	return said
}

// migrate is for what keeps volumes in-tree.
func (w *world) migrate(l inventory.Leftover) []action.Action {
	if l.InTree == "kubernetes.io/vsphere-volume" && w.inv.Cluster.VSphereStorageDriver != "CSIWithMigrationDriver" {
		return []action.Action{action.EnableMigration{}}
	}
	return []action.Action{action.ByHand{Text: "see that the storage operator is healthy and the CSIDriver is there", Look: [][]string{
		{"oc", "get", "clusteroperators", "storage", "kube-controller-manager"}, {"oc", "get", "csidriver", l.Provisioner},
	}}}
}

// afterNodes is AFTER003: nodes without the driver that serves in-tree volumes
// of Windows pods now.
func afterNodes(w *world) []draft {
	var said []draft
	for _, use := range w.inTreeUses() {
		if on, _ := w.onCSI(use.plugin, w.from()); on {
			said = append(said, w.gate("AFTER003", use)...)
		}
	}
	return append(said, w.unresolved("AFTER003")...)
}

// afterWindows is AFTER004: Windows nodes that the update hasn't reached.
func afterWindows(w *world) []draft {
	var said []draft
	for _, ns := range groups(w.windowsNodes(), w.behind) {
		why := w.behind(ns[0])
		if why == "" {
			continue
		}
		f := draft{Severity: finding.Warn, Object: "Windows nodes"}
		f.Observed = fmt.Sprintf("%s: %s", someOf(nodeNames(ns)), why)
		f.Expected = "Windows nodes of the cluster's release"
		f.Why = "kubelet, kube-proxy and csi-proxy of these nodes are older than those that WMCO brings now"
		if w.oldKubelet(ns[0]) {
			f.Why += ", and the next update may refuse such a kubelet"
		}
		f.Same = why
		f.Do = w.updateWMCO(w.from())
		if slices.ContainsFunc(ns, func(n *inventory.Node) bool { return w.arriving(n) != nil }) {
			f.Do, f.NoStep = nil, true
			f.Remedy = "do what PROXY001 asks for first: the WMCO that is about to configure them ships no csi-proxy"
		}
		f.When = after
		var at []inventory.Evidence
		for _, n := range ns {
			at = append(at, inventory.Evidence{Where: n.At.Where, Text: strings.TrimSpace("kubelet " + n.Kubelet + " WMCO " + n.WMCO)})
		}
		f.Evidence = cite(at)
		said = append(said, f)
	}
	return said
}

// behind says how a node lags behind the cluster, "" if it doesn't or if
// nothing tells (NODE001 and NODE002 judge what can't be read).
func (w *world) behind(n *inventory.Node) string {
	if n.WMCO != "" && n.DesiredWMCO != "" && n.WMCO != n.DesiredWMCO {
		return fmt.Sprintf("configured by WMCO %s, to be configured by %s", n.WMCO, n.DesiredWMCO)
	}
	node, err := version.ParseWMCO(n.WMCO)
	if operator, opErr := version.ParseWMCO(w.inv.Cluster.WMCO); err == nil && opErr == nil && node.Compare(operator) < 0 {
		return fmt.Sprintf("configured by WMCO %s, the operator is %s", n.WMCO, w.inv.Cluster.WMCO)
	}
	if w.oldKubelet(n) {
		server, _, _ := w.apiServer()
		return fmt.Sprintf("kubelet %s, the API server is %s", n.Kubelet, cmp.Or(w.inv.Cluster.Kubernetes, server.MinorString()))
	}
	return ""
}

// oldKubelet tells whether a node's kubelet is minors older than the API server.
func (w *world) oldKubelet(n *inventory.Node) bool {
	kubelet, err := version.ParseKubernetes(n.Kubelet)
	server, _, ok := w.apiServer()
	return err == nil && ok && (kubelet.Major != server.Major || kubelet.Minor < server.Minor)
}
