package registration

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var reg007 = rules.Rule{ID: "REG007", Needs: rules.NeedsDrivers, Cluster: linuxOnWindows, At: rules.AtNow}

// usual is a Windows node as WMCO makes it, where no nodes can be read.
var usual = &inventory.Node{
	Name: "Windows nodes", Labels: map[string]string{"kubernetes.io/os": "windows", "beta.kubernetes.io/os": "windows"},
	Taints: []inventory.Taint{{Key: "os", Value: "Windows", Effect: "NoSchedule"}},
}

// linuxOnWindows is REG007: a Linux DaemonSet whose pods the scheduler puts on Windows
// nodes, where they never start.
func linuxOnWindows(snap *snapshot.Snapshot, report rules.Report) {
	nodes := snap.Nodes
	if snap.Request.Static && len(nodes) == 0 {
		nodes = []*inventory.Node{usual}
	}
	for _, d := range snap.Drivers {
		on := snapshot.Select(nodes, func(n *inventory.Node) bool { return d.Scheduling.Matches(*n) })
		if d.OS != "linux" || d.OperatorManaged || d.Partial != "" || len(on) == 0 {
			continue
		}
		edit := remedy.SelectSystem(d, "kubernetes.io/os", "linux")
		var do action.Action = edit
		if snap.Request.Static {
			do = action.ByHand{Object: d.Object.String(), Text: edit.Text, Becomes: edit.Becomes}
		}
		report(rules.Finding{
			Case: "on Windows", Object: d.Object.String(), Facts: rules.Facts{"nodes": snapshot.NodeNames(on)}, Do: []action.Action{do}, Evidence: []inventory.Evidence{{Where: d.Object.String() + " spec.template.spec.tolerations"}},
		})
	}
}
