package registration

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var reg007 = rules.Rule{ID: "REG007", Needs: rules.NeedsDrivers, Cluster: onOther, At: rules.AtNow}

// usual is a Windows node as WMCO makes it, where no nodes can be read.
var usual = &inventory.Node{
	Name: "Windows nodes", Labels: map[string]string{"kubernetes.io/os": "windows", "beta.kubernetes.io/os": "windows"},
	Taints: []inventory.Taint{{Key: "os", Value: "Windows", Effect: "NoSchedule"}},
}

// worker is a Linux node, of which only the number is known.
var worker = &inventory.Node{Name: "Linux nodes", Labels: map[string]string{"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": ""}}

// onOther is REG007: a DaemonSet whose pods the scheduler puts on nodes of the other
// system, where they never start.
func onOther(snap *snapshot.Snapshot, report rules.Report) {
	nodes := map[string][]*inventory.Node{"linux": snap.Nodes, "windows": {worker}}
	if snap.Request.Static && len(snap.Nodes) == 0 {
		nodes["linux"] = []*inventory.Node{usual}
	}
	for _, d := range snap.Drivers {
		on := snapshot.Select(nodes[d.OS], func(n *inventory.Node) bool { return d.Scheduling.Matches(*n) })
		if d.OperatorManaged || d.Partial != "" || len(on) == 0 {
			continue
		}
		edit := remedy.SelectSystem(d, "kubernetes.io/os", d.OS)
		var do action.Action = edit
		if snap.Request.Static {
			do = action.ByHand{Object: d.Object.String(), Text: edit.Text, Becomes: edit.Becomes}
		}
		report(rules.Finding{
			Case: "on the other", Object: d.Object.String(), Facts: rules.Facts{"nodes": snapshot.NodeNames(on), "set": d}, Do: []action.Action{do}, Evidence: []inventory.Evidence{{Where: d.Object.String() + " spec.template.spec.tolerations"}},
		})
	}
}
