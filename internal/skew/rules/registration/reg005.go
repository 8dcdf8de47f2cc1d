package registration

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var reg005 = rules.Rule{ID: "REG005", Needs: []inventory.Resource{inventory.Nodes, inventory.CSINodes, inventory.Pods}, Cluster: topology, At: rules.AtNow}

// topology is REG005: nodes without the labels that a driver's volumes go by, and
// volumes that no Windows node can reach. Nodes that were read without any label
// tell nothing.
func topology(snap *snapshot.Snapshot, report rules.Report) {
	if len(snap.Nodes) == 0 || slices.ContainsFunc(snap.Nodes, func(n *inventory.Node) bool { return len(n.Labels) == 0 }) {
		return
	}
	lacking := unlabelled(snap)
	for _, provisioner := range slices.Sorted(maps.Keys(lacking)) {
		report(withoutLabel(snap, provisioner, lacking[provisioner]))
	}
	if !snap.Inventory.Read[inventory.Nodes].Complete {
		return
	}
	reached := map[string]bool{} // by affinity: thousands of volumes have a few
	far := snapshot.Select(snap.Inventory.Volumes, func(u inventory.VolumeUse) bool {
		if u.InTree != "" || len(u.Affinity) == 0 || lacking[u.Provisioner] != nil {
			return false
		}
		key := affinity(u)
		some, known := reached[key]
		if !known {
			s := inventory.Scheduling{Terms: u.Affinity}
			some = slices.ContainsFunc(snap.Nodes, func(n *inventory.Node) bool { return s.Selects(*n) })
			reached[key] = some
		}
		return !some
	})
	for _, alike := range snapshot.GroupBy(far, func(u inventory.VolumeUse) string { return u.Provisioner + affinity(u) }) {
		report(outOfReach(alike))
	}
}

func affinity(u inventory.VolumeUse) string {
	var b strings.Builder
	for _, t := range u.Affinity {
		b.WriteString(" or")
		for _, e := range slices.Concat(t.Expressions, t.Fields) {
			b.WriteString(" " + e.Key + " " + e.Operator + " " + strings.Join(e.Values, ","))
		}
	}
	return b.String()
}

// unlabelled are nodes that lack a label which their CSINode names as a topology key,
// and those keys, by driver.
func unlabelled(snap *snapshot.Snapshot) map[string]map[string][]*inventory.Node {
	found := map[string]map[string][]*inventory.Node{}
	for _, n := range snap.Nodes {
		c := snap.CSINode(n.Name)
		if c == nil {
			continue
		}
		for provisioner, keys := range c.TopologyKeys {
			for _, key := range keys {
				if _, ok := n.Labels[key]; ok {
					continue
				}
				if found[provisioner] == nil {
					found[provisioner] = map[string][]*inventory.Node{}
				}
				found[provisioner][key] = append(found[provisioner][key], n)
			}
		}
	}
	return found
}

func withoutLabel(snap *snapshot.Snapshot, provisioner string, keys map[string][]*inventory.Node) rules.Finding {
	names := slices.Sorted(maps.Keys(keys))
	var nodes []*inventory.Node
	for _, key := range names {
		nodes = append(nodes, keys[key]...)
	}
	nodes = snapshot.Unique(nodes)
	return rules.Finding{
		Case: "no label", Facts: rules.Facts{"nodes": nodes, "keys": names}, Object: provisioner, Evidence: rules.Cite(slices.Concat(snap.CSINodeEvidence(nodes), snapshot.NodeEvidence(nodes))),
		Do: []action.Action{action.ByHand{
			Object: provisioner, Text: "restart the driver's pod on these nodes, one at a time: the kubelet sets the labels of its topology when it registers",
			Look: [][]string{
				{"oc", "get", "nodes", "-l", "kubernetes.io/os=windows", "-L", strings.Join(names, ",")},
				{"oc", "get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + nodes[0].Name},
			},
		}},
	}
}

func outOfReach(uses []inventory.VolumeUse) rules.Finding {
	u := uses[0]
	pods := snapshot.Map(uses, func(u inventory.VolumeUse) string {
		return fmt.Sprintf("%s/%s (volume %s)", u.Pod.Namespace, u.Pod.Name, u.PV)
	})
	return rules.Finding{
		Case: "out of reach", Facts: rules.Facts{"pods": pods}, Object: u.Provisioner, Same: affinity(u), Evidence: rules.Cite(snapshot.Map(uses, func(u inventory.VolumeUse) inventory.Evidence { return u.At })),
		Do: []action.Action{action.ByHand{
			Object: u.Provisioner, Text: "add a Windows node where these volumes are, or move their data to volumes that Windows nodes reach",
			Look: [][]string{{"oc", "get", "pv/" + u.PV, "-o", "jsonpath={.spec.nodeAffinity.required}"}, {"oc", "get", "nodes", "-l", "kubernetes.io/os=windows", "--show-labels"}},
		}},
	}
}
