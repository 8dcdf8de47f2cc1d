package registration

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// uncovered is REG001 of what was planned: nodes that have the driver now, and
// won't when the planned manifest is written over the present one.
func uncovered(snap *snapshot.Snapshot, report rules.Report) {
	for _, d := range snap.Windows {
		used, unused := snap.Using(d.Provisioner, false, snap.UncoveredNodes(d))
		uncoveredNodes(snap, d, used, finding.Block, report)
		uncoveredNodes(snap, d, unused, finding.Warn, report)
	}
}

func uncoveredNodes(snap *snapshot.Snapshot, d *inventory.Driver, nodes []*inventory.Node, sev finding.Severity, report rules.Report) {
	if len(nodes) == 0 {
		return
	}
	p := snap.Replacements(d)[0]
	f := rules.Finding{Severity: sev, Object: d.Object.String(), Same: "planned", When: rules.Before}
	f.Observed = fmt.Sprintf("it runs %s on %s, and with the planned manifest in %s no DaemonSet does", d.Provisioner, rules.SomeOf(snapshot.NodeNames(nodes)), snapshot.PlannedFile(p))
	if sev == finding.Block {
		f.Observed += "; Windows pods there use its volumes"
	}
	f.Expected = "the driver on each node that has it now"
	f.Why = "a volume can't be attached or mounted on a node that the driver doesn't run on"
	f.Remedy = fmt.Sprintf("let %s in %s choose these nodes too, with the node selector, affinity and tolerations that the present one has, or plan another DaemonSet for them", p.Object, snapshot.PlannedFile(p))
	f.Evidence = rules.Cite(slices.Concat(p.Evidence[:min(1, len(p.Evidence))], snapshot.NodeEvidence(nodes)))
	report(f)
}

// plannedNowhere is REG004 of what was planned: it would run on no node.
func plannedNowhere(snap *snapshot.Snapshot, report rules.Report) {
	for _, p := range snap.PlannedWindows {
		if snap.Phase != snapshot.Planned || !snap.MatchesNoNode(p) {
			continue
		}
		f := rules.Finding{Severity: finding.Info, Object: p.Object.String(), Same: "planned", When: rules.Before}
		f.Observed = "none of the Windows nodes matches the planned manifest: it would have no pod"
		f.Expected = "a Windows node that it runs on"
		f.Why = "where it is for nodes that are still to come, nothing is wrong"
		f.Evidence = rules.Cite(slices.Concat(p.Evidence[:min(1, len(p.Evidence))], snapshot.NodeEvidence(snap.Nodes)))
		if of := snap.Replaced()[p]; len(of) > 0 {
			f.Severity = finding.Warn
			f.Why = of[0].Object.String() + " runs the driver on these nodes, and it can't take that one's place"
			f.Remedy = fmt.Sprintf("give it in %s the node selector, affinity and tolerations that %s has: the nodes' labels must be selected, and their taints tolerated", snapshot.PlannedFile(p), of[0].Object)
		}
		report(f)
	}
}
