package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// inTreeUse is one in-tree plugin and the volumes of it that Windows pods use.
type inTreeUse struct {
	plugin      string
	provisioner string
	uses        []inventory.VolumeUse
}

// inTreeUses are the in-tree plugins in use by Windows pods, sorted. A pod that
// no node was found for yet counts; pods on Linux aren't in the inventory.
func (w *world) inTreeUses() []inTreeUse {
	return memo(w.index, "in-tree uses", func() []inTreeUse {
		uses := slices.DeleteFunc(slices.Clone(w.inv.Volumes), func(u inventory.VolumeUse) bool { return u.InTree == "" })
		var out []inTreeUse
		for _, us := range groups(uses, func(u inventory.VolumeUse) string { return u.InTree }) {
			use := inTreeUse{plugin: us[0].InTree, provisioner: us[0].Provisioner, uses: us}
			if d := w.cat.ByInTree(use.plugin); use.provisioner == "" && d != nil {
				use.provisioner = d.Provisioner
			}
			out = append(out, use)
		}
		return out
	})
}

// nodes parts the Windows nodes: those where such a volume is, or where a
// pending pod may bring one, and the others, that a drained pod may move to.
func (u inTreeUse) nodes(all []*inventory.Node) (used, others []*inventory.Node) {
	on := map[string]bool{}
	for _, use := range u.uses {
		on[use.Node] = true
	}
	for _, n := range all {
		if on[""] || on[n.Name] {
			used = append(used, n)
		} else {
			others = append(others, n)
		}
	}
	return used, others
}

// volumes names pods and what they use.
func (u inTreeUse) volumes() string {
	var names []string
	for _, use := range u.uses {
		what := "inline volume " + use.Volume
		switch {
		case use.Claim != "":
			what = "claim " + use.Claim
		case use.PV != "":
			what = "volume " + use.PV
		}
		names = append(names, fmt.Sprintf("%s/%s (%s)", use.Pod.Namespace, use.Pod.Name, what))
	}
	return someOf(names)
}

func (u inTreeUse) facts() []inventory.Evidence {
	var at []inventory.Evidence
	for _, use := range u.uses {
		at = append(at, use.At)
	}
	return at
}

// Platforms whose in-tree volumes WMCO never moves on Windows nodes: they had
// no Windows storage before OpenShift 4.12.
var neverMigrated = []string{"AWS", "GCP"}

// onCSI tells whether a release serves an in-tree plugin's volumes by CSI on
// Windows nodes; known is false where the catalog doesn't say.
func (w *world) onCSI(plugin, minor string) (on, known bool) {
	m := w.cat.MigrationOf(plugin, minor)
	if m == nil {
		return false, false
	}
	return moved(m.Windows), true
}

// moved tells whether CSI serves the volumes.
func moved(s catalog.MigrationState) bool {
	return s == catalog.MigrationOn || s == catalog.MigrationRemoved
}

// inTreeGate is INTREE001: Windows pods use in-tree volumes that the target
// serves by CSI, and nodes whose CSINode lacks the driver.
func inTreeGate(w *world) []draft {
	if w.Phase == Planned {
		return nil
	}
	var said []draft
	for _, use := range w.inTreeUses() {
		on, known := w.onCSI(use.plugin, w.to())
		already, _ := w.onCSI(use.plugin, w.from())
		switch {
		case w.Phase == Now && already && !w.stranded(use):
			said = append(said, w.gate("INTREE001", use)...)
		case w.Phase == Now, already:
			// it is a matter of the hop; or the hop that brought it said so, or Now
		case !known:
			said = append(said, w.unknownMigration(use))
		case on && !w.stranded(use):
			said = append(said, w.gate("INTREE001", use)...)
		}
	}
	if w.Hop == 0 && w.Phase == Target {
		said = append(said, w.unresolved("INTREE001")...)
	}
	return said
}

// stranded tells whether use falls to INTREE002: nothing migrates it.
func (w *world) stranded(use inTreeUse) bool {
	d := w.cat.ByInTree(use.plugin)
	if d == nil || !slices.Contains(neverMigrated, d.Platform) {
		return false
	}
	already, known := w.onCSI(use.plugin, w.from())
	return known && !already
}

// gate holds use against the CSINodes.
func (w *world) gate(id string, use inTreeUse) []draft {
	used, others := use.nodes(w.windowsNodes())
	missing, unread := w.without(use.provisioner, used)
	idle, _ := w.without(use.provisioner, others)
	var said []draft
	if len(missing) > 0 {
		said = append(said, w.unmigrated(id, use, missing))
	}
	if len(idle) > 0 {
		said = append(said, w.mayMove(id, use, idle))
	}
	lost := w.lostNodes(use)
	if len(unread) > 0 || len(w.windowsNodes()) == 0 && len(lost) == 0 {
		said = append(said, w.unreadGate(id, use, unread))
	}
	if len(lost) > 0 {
		said = append(said, w.lostGate(use, lost))
	}
	return said
}

// lostNodes are nodes on which Windows pods use such volumes and that weren't
// read, sorted.
func (w *world) lostNodes(u inTreeUse) []string {
	var lost []string
	for _, use := range u.uses {
		if use.Node != "" && !slices.Contains(lost, use.Node) && !slices.ContainsFunc(w.windowsNodes(), func(n *inventory.Node) bool { return n.Name == use.Node }) {
			lost = append(lost, use.Node)
		}
	}
	slices.Sort(lost)
	return lost
}

func (w *world) unmigrated(id string, use inTreeUse, nodes []*inventory.Node) draft {
	f := draft{Severity: finding.Block, Object: use.plugin}
	f.Observed = fmt.Sprintf("Windows pods use its volumes: %s; CSINode of %s doesn't list %s", use.volumes(), someOf(nodeNames(nodes)), use.provisioner)
	f.Expected = use.provisioner + " in CSINode spec.drivers of every Windows node that uses these volumes"
	f.Why = fmt.Sprintf("OpenShift %s serves these volumes by %s on Windows nodes: a node without it can't mount them once its kubelet is updated", w.to(), use.provisioner)
	if w.Phase == Now {
		f.Why = fmt.Sprintf("OpenShift %s serves these volumes by %s on Windows nodes already: a node without it can't mount them", w.from(), use.provisioner)
	}
	if use.plugin == "kubernetes.io/azure-file" {
		f.Why += ". Volumes of Azure File are never attached, so WMCO 9's own gate doesn't see them"
	}
	f.Do, f.When = w.openGate(use, nodes)
	f.Evidence = cite(slices.Concat(w.csiNodeFacts(nodes), use.facts()))
	if id == "INTREE001" && w.waitsForControlPlane(use, nodes) {
		f.Severity = finding.Warn
		f.Observed += "; its Windows DaemonSet is there and covers them"
	}
	return f
}

// openGate is what the enhancement asks for: csi-proxy and driver first, see the
// driver in CSINode, then one node at a time.
func (w *world) openGate(use inTreeUse, nodes []*inventory.Node) (do []action.Action, when string) {
	names, release, when := nodeNames(nodes), w.From, before
	if w.featureOff(use) {
		release, when = w.To, during // the driver refuses Windows before
	}
	look := [][]string{{"oc", "get", "csinodes", "-o", "custom-columns=NODE:.metadata.name,DRIVERS:.spec.drivers[*].name"}}
	hand := action.ByHand{Object: use.plugin, Look: look}
	switch d := w.serving(use.provisioner, nodes[0]); {
	case w.waitsForControlPlane(use, nodes):
		hand.Text = fmt.Sprintf("leave the DaemonSet of %s; before any Windows node is updated wait until each node lists the driver", use.provisioner)
	case d != nil && w.allServed(use.provisioner, nodes):
		hand.Text = fmt.Sprintf("repair the pods of %s on %s (csi-proxy must run there), and wait until each node lists %s", d.Object, someOf(names), use.provisioner)
		hand.Look = append([][]string{{"oc", "get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + names[0]}}, look...)
	case w.deployed(use.provisioner):
		hand.Text = fmt.Sprintf("let the Windows DaemonSet of %s run on all Windows nodes (csi-proxy must run there), and wait until each of them lists it", use.provisioner)
	default:
		if do := w.deploy(w.cat.ByProvisioner(use.provisioner), release, w.windowsNodes()); do != nil {
			return do, when
		}
		hand.Text = fmt.Sprintf("deploy the Windows DaemonSet of %s on all Windows nodes (csi-proxy must run there), and wait until each of them lists it", use.provisioner)
	}
	return []action.Action{hand}, when
}

// deployed tells whether there is any Windows DaemonSet of a provisioner.
func (w *world) deployed(provisioner string) bool {
	return slices.ContainsFunc(w.windows(), func(d *inventory.Driver) bool { return d.Provisioner == provisioner })
}

// allServed tells whether Windows DaemonSets of a provisioner cover all nodes.
func (w *world) allServed(provisioner string, nodes []*inventory.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool { return !w.served(provisioner, n) })
}

// waitsForControlPlane tells whether all that can be done before the update
// was done: the DaemonSet covers the nodes and only the control plane lacks.
func (w *world) waitsForControlPlane(use inTreeUse, nodes []*inventory.Node) bool {
	return w.featureOff(use) && w.allServed(use.provisioner, nodes)
}

func (w *world) mayMove(_ string, use inTreeUse, nodes []*inventory.Node) draft {
	f := draft{Severity: finding.Warn, Object: use.plugin}
	f.Observed = fmt.Sprintf("CSINode of %s doesn't list %s; no Windows pod uses its volumes there now", someOf(nodeNames(nodes)), use.provisioner)
	f.Expected, f.Same = use.provisioner+" on every Windows node that such a pod may move to", "move"
	f.Why = "while a node is updated its pods move; on a node without the driver they don't start"
	f.Do, f.When = w.openGate(use, nodes)
	f.Evidence = cite(w.csiNodeFacts(nodes))
	return f
}

func (w *world) unreadGate(_ string, use inTreeUse, nodes []*inventory.Node) draft {
	f := draft{Severity: finding.Unknown, Object: use.plugin}
	f.Observed = fmt.Sprintf("Windows pods use its volumes: %s; the CSINodes of %s weren't read", use.volumes(), cmp.Or(someOf(nodeNames(nodes)), "the Windows nodes"))
	f.Expected = "the CSINode of every Windows node"
	f.Why = "only CSINode spec.drivers says whether a node has " + use.provisioner
	f.Do, f.When = gather("nodes,csinodes", "nodes.yaml"), before
	f.Evidence = cite(use.facts())
	return f
}

// lostGate tells of nodes that only their pods speak of.
func (w *world) lostGate(use inTreeUse, nodes []string) draft {
	f := w.unreadGate("", use, nil)
	f.Observed = fmt.Sprintf("Windows pods use its volumes: %s; the Nodes of %s weren't read", use.volumes(), someOf(nodes))
	f.Expected = "the Node and the CSINode of every Windows node"
	f.Why = "a node that wasn't read isn't held against its CSINode, and only that says whether it has " + use.provisioner
	return f
}

func (w *world) unknownMigration(use inTreeUse) draft {
	f := draft{Severity: finding.Unknown, Object: use.plugin}
	f.Observed = fmt.Sprintf("Windows pods use its volumes: %s; what OpenShift %s does with them isn't in the catalog", use.volumes(), w.to())
	f.Expected = "a plugin and a release that the catalog knows"
	f.Why = "a release that removed the in-tree code can't mount these volumes without a CSI driver"
	f.Remedy, f.When = "move these pods to CSI volumes, or look the plugin up in the release notes and add a row: --catalog FILE (migration)", before
	f.Evidence = cite(use.facts())
	return f
}

// unresolved are volumes whose driver couldn't be told; they may be in-tree.
func (w *world) unresolved(_ string) []draft {
	uses := slices.DeleteFunc(slices.Clone(w.inv.Volumes), func(u inventory.VolumeUse) bool {
		return u.Provisioner != "" || u.InTree != "" || u.Reason == ""
	})
	var said []draft
	for _, us := range groups(uses, func(u inventory.VolumeUse) string { return u.Reason }) {
		use := inTreeUse{uses: us}
		f := draft{Severity: finding.Unknown, Object: "volumes of Windows pods"}
		f.Observed = fmt.Sprintf("what serves them couldn't be told: %s; %s", use.volumes(), us[0].Reason)
		f.Expected, f.Same = "the claims and volumes of every Windows pod", us[0].Reason
		f.Why = "an in-tree volume among them may stop working on the way"
		f.Do, f.When = gather("pv,pvc", "volumes.yaml"), before
		f.Evidence = cite(use.facts())
		said = append(said, f)
	}
	return said
}

// inTreeStranded is INTREE002: in-tree volumes on a platform where nothing
// moves them from before 4.12.
func inTreeStranded(w *world) []draft {
	if w.Phase != Target {
		return nil
	}
	var said []draft
	for _, use := range w.inTreeUses() {
		if on, _ := w.onCSI(use.plugin, w.to()); !on || !w.stranded(use) {
			continue
		}
		f := draft{Severity: finding.Block, Object: use.plugin}
		f.Observed = "Windows pods use its volumes: " + use.volumes()
		f.Expected = "no in-tree volume in use by Windows pods before the update to " + w.to()
		f.Why = fmt.Sprintf("OpenShift %s serves them by CSI, and on %s nobody moves in-tree volumes of Windows nodes", w.to(), strings.Join(neverMigrated, " and "))
		f.Remedy = fmt.Sprintf("copy the data away, delete these pods and their claims, and make them anew on a cluster that uses %s (OpenShift 4.12 or newer)", use.provisioner)
		f.When = before
		f.Evidence = cite(use.facts())
		said = append(said, f)
	}
	return said
}

// gather reads objects of the whole cluster for the next check.
func gather(what, file string) []action.Action {
	return []action.Action{action.Gather{Text: "give them to the check with --manifests " + file + ", or let it read the cluster", Get: []string{"get", what, "--all-namespaces", "-o", "yaml"}, File: file}}
}
