package skew

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// operatorSkew is NODE002.
func operatorSkew(w *world, out *sink) {
	release := w.CatalogRelease()
	if w.Phase == Planned || release == nil {
		return // DATA001 says so
	}
	if w.Phase == Target && w.problem == "" && len(w.cat.WMCOFor(release.OpenShift)) == 0 && w.usesWMCO() {
		out.add(draft{
			Severity: finding.Warn, Object: "WMCO for " + release.OpenShift,
			Observed: fmt.Sprintf("the catalog (of %s) knows no release of WMCO for OpenShift %s", w.cat.AsOf, release.OpenShift),
			Expected: "a release of WMCO for the target",
			Why:      "without one the Windows nodes can't follow the control plane",
			Do:       []action.Action{action.ByHand{Text: "wait until OperatorHub has one, or choose a target that has one", Look: [][]string{{"oc", "get", "packagemanifest", "windows-machine-config-operator"}}}},
			When:     before, Evidence: w.catalogEvidence(),
		})
	}
	for _, text := range w.operators() {
		w.compareOperator(out, text, release.OpenShift)
	}
}

// compareOperator judges one version of WMCO that runs, or ran when it
// configured nodes.
func (w *world) compareOperator(out *sink, text, minor string) {
	d := draft{
		Object: "WMCO " + text, When: before, Evidence: w.operatorEvidence(text),
		Do: w.updateWMCO(w.follows(minor)),
	}
	if behind := w.leftBehind(w.nodesWith(func(n *inventory.Node) bool { return n.WMCO == text })); len(behind) > 0 {
		d.Do = lookAtNodes(behind)
	}
	v, err := version.ParseWMCO(text)
	known := w.cat.WMCORelease(v)
	switch {
	case err != nil || known == nil:
		d.Severity = finding.Unknown
		d.Observed, d.Expected = "version "+text, "a release of WMCO that the catalog knows"
		d.Why = "which minor of OpenShift it is for can't be told"
		d.Do = []action.Action{action.Gather{Text: "look at the operator, and add its release to the catalog with --catalog where it is new", Get: []string{"-n", "openshift-windows-machine-config-operator", "get", "csv"}}}
	case known.OpenShift == minor || w.precedes(known.OpenShift, minor), w.problem != "" && w.Phase != Now:
		return // it fits, or DATA001 says that the way isn't known
	case (w.Hop > 0 || w.inv.Cluster.WMCO == "") && w.From.Minor%2 == 1 && eus(w.req, &w.inv.Cluster):
		return // it is removed before, and comes back after
	case w.Hop > 0:
		d.Severity = finding.Info
		d.Observed, d.Expected = w.operatorText(text, known.OpenShift, minor), "WMCO for "+w.follows(minor)+" or "+minor
		d.Why = "WMCO must have followed by then"
	default:
		d.Severity = finding.Warn
		d.Observed, d.Expected = w.operatorText(text, known.OpenShift, minor), "WMCO for "+minor+", or for the minor before it while the cluster updates"
		d.Why = "a release of WMCO serves its own minor, and the next one only while the cluster updates"
	}
	out.add(d)
}

// updateWMCO brings WMCO to its release for a minor.
func (w *world) updateWMCO(minor string) []action.Action {
	return []action.Action{w.wmcoOf(minor)}
}

// wmcoOf is the operator's release for a minor, as far as the catalog knows it.
func (w *world) wmcoOf(minor string) action.UpdateWMCO {
	up := action.UpdateWMCO{OpenShift: minor}
	if list := w.wmcoFor(minor); len(list) > 0 {
		up.WMCO = list[len(list)-1].From
	}
	if r := w.cat.Release(minor); r != nil {
		up.Kubernetes = r.Kubernetes
	}
	return up
}

// leftBehind are those of some nodes that an older WMCO configured than the one
// that runs, or than that of other nodes.
func (x *index) leftBehind(nodes []*inventory.Node) []string {
	var names []string
	for _, n := range nodes {
		v, err := version.ParseWMCO(n.WMCO)
		if err == nil && slices.ContainsFunc(x.operators(), func(other string) bool {
			o, err := version.ParseWMCO(other)
			return err == nil && o.Compare(v) > 0
		}) {
			names = append(names, n.Name)
		}
	}
	return names
}

// lookAtNodes is for nodes that WMCO doesn't configure.
func lookAtNodes(names []string) []action.Action {
	return []action.Action{action.ByHand{Text: "WMCO is newer than these nodes: see why it doesn't configure " + few(names), Look: [][]string{
		{"oc", "get", "node", names[0], "-o", "yaml"},
		{"oc", "-n", "openshift-windows-machine-config-operator", "logs", "deployment/windows-machine-config-operator"},
	}}}
}

// operatorBehind tells whether NODE002 asks for another WMCO on all of these
// nodes at this moment: it brings their kubelet too.
func (w *world) operatorBehind(nodes []*inventory.Node) bool {
	release := w.CatalogRelease()
	if release == nil || w.problem != "" {
		return false
	}
	return !slices.ContainsFunc(nodes, func(n *inventory.Node) bool {
		v, err := version.ParseWMCO(n.WMCO)
		if err != nil || !slices.Contains(w.operators(), n.WMCO) {
			return true
		}
		known := w.cat.WMCORelease(v)
		return known == nil || known.OpenShift == release.OpenShift || w.precedes(known.OpenShift, release.OpenShift)
	})
}

func (w *world) operatorText(text, its, minor string) string {
	return fmt.Sprintf("WMCO %s is for OpenShift %s, the cluster %s %s", text, its, map[bool]string{true: "is at", false: "goes to"}[w.Phase == Now], minor)
}

// precedes tells whether an update goes from one minor to the other.
func (w *world) precedes(minor, next string) bool {
	r := w.cat.Release(minor)
	return r != nil && slices.Contains(r.Next, next)
}

// follows is the minor that WMCO should be for before the cluster goes to a
// minor: the one before it. At rest it is the minor itself.
func (w *world) follows(minor string) string {
	if w.Phase != Now && !w.From.IsZero() && w.From.MinorString() != minor {
		return w.From.MinorString()
	}
	return minor
}

// operators are the versions of WMCO that are known: the operator's own, else
// those that configured the nodes.
func (x *index) operators() []string {
	return memo(x, "operators", func() []string {
		if x.inv.Cluster.WMCO != "" {
			return []string{x.inv.Cluster.WMCO}
		}
		var list []string
		for i := range x.inv.Nodes {
			if v := x.inv.Nodes[i].WMCO; v != "" && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		return list
	})
}

// usesWMCO tells whether any node is WMCO's, or there is no node to go by.
func (x *index) usesWMCO() bool { return len(x.operators()) > 0 || len(x.inv.Nodes) == 0 }

func (x *index) operatorEvidence(text string) []inventory.Evidence {
	if x.inv.Cluster.WMCO == text {
		return x.inv.Cluster.Evidence
	}
	return evidenceOf(x.nodesWith(func(n *inventory.Node) bool { return n.WMCO == text }))
}
