package versions

import (
	"fmt"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// followed is the Linux side that the driver is to follow when the update is done.
func followed(v *snapshot.View) *snapshot.Linux {
	if v.At.Hops > 0 && v.LinuxTarget.Known() {
		return &v.LinuxTarget
	}
	return v.Linux()
}

// ends tells whether the update takes the Linux side to where a gap of now isn't
// any more. What an operator from OperatorHub brings moves at another time.
func ends(v *snapshot.View, gap func(version.Driver) bool) bool {
	_, some := v.LinuxTarget.Holds(gap)
	return v.At.Phase == snapshot.Now && v.At.Hops > 0 && v.LinuxTarget.Known() && !some && !v.LinuxTarget.Fixed
}

func endedBy(v *snapshot.View) string {
	return fmt.Sprintf("nothing has to be done: the update to %s takes Linux to %s, and that ends it", v.At.To, &v.LinuxTarget)
}

// pair is an incompatibility of the catalog that holds, and how bad it is here.
type pair struct {
	*catalog.Incompatibility
	severity finding.Severity
	label    string // what the nodes' labels say about it
}

func (p *pair) source() string {
	if len(p.Evidence) == 0 {
		return ""
	}
	return p.Evidence[0].Source
}

// incompatible is the worst pair that holds for a candidate that which takes;
// nil for none.
func incompatible(v *snapshot.View, which func(version.Driver) bool) *pair {
	windows, known := v.Windows()
	if !known || v.Catalog == nil {
		return nil
	}
	var worst *pair
	for _, known := range snapshot.Pointers(v.At.Catalog.Incompatible) {
		if known.Driver != v.Catalog.Name {
			continue
		}
		all, some := v.Linux().Holds(func(c version.Driver) bool { return which(c) && known.Holds(c, windows) })
		if !some {
			continue
		}
		p := weigh(v, known, all)
		if worst == nil || p.severity > worst.severity {
			worst = p
		}
	}
	return worst
}

// weigh finds the severity of a pair that holds, for all candidates or some.
func weigh(v *snapshot.View, known *catalog.Incompatibility, all bool) *pair {
	p := &pair{Incompatibility: known, severity: finding.Block}
	if known.Severity == finding.Warn.String() {
		p.severity = finding.Warn
	}
	if !all {
		p.severity = finding.Unknown
		return p
	}
	label := known.UnlessNodeLabel
	if label == "" {
		return p
	}
	bare := snapshot.Select(v.Nodes, func(n *inventory.Node) bool { _, ok := n.Labels[label]; return !ok })
	switch {
	case len(v.Nodes) == 0:
		p.label = "; whether the Windows nodes carry " + label + " wasn't read"
	case len(bare) == 0:
		p.severity = finding.Info
		p.label = "; all Windows nodes carry " + label
	default:
		p.label = fmt.Sprintf("; %s without %s", rules.SomeOf(snapshot.NodeNames(bare)), label)
	}
	return p
}

func running(v *snapshot.View) []inventory.Evidence {
	return snapshot.Map(v.DaemonSet.Running, func(r inventory.Running) inventory.Evidence {
		return inventory.Evidence{Where: "running on " + rules.SomeOf(r.Nodes), Text: r.Image.Reference}
	})
}

func seeOperator(then string) []action.Action {
	return []action.Action{action.ByHand{Text: "see which version the operator runs" + then, Look: [][]string{{"oc", "get", "csv", "--all-namespaces"}}}}
}
