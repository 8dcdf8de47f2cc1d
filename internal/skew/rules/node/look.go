package node

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// LacksImage tells whether NODE003 blocks the driver: there is no image of its
// version for one of its nodes.
func LacksImage(v *snapshot.View) bool {
	return needsImages(v) && len(v.Line.Builds) > 0 && slices.ContainsFunc(v.Unproven(v.Nodes), func(n *inventory.Node) bool {
		return snapshot.Builds[n.Build] != "" && !v.Line.HasImageFor(n.Build, n.Runtime)
	})
}

// OnlyHostProcess tells whether only a HostProcess container lets the driver
// run on one of its nodes: NODE003 asks for that first, and it has other images.
func OnlyHostProcess(v *snapshot.View) bool {
	return LacksImage(v) && v.Line.CanHostProcess() && slices.ContainsFunc(v.Unproven(v.Nodes), func(n *inventory.Node) bool {
		return snapshot.Builds[n.Build] != "" && v.LineWith(func(l *catalog.Line) bool { return l.HasImageFor(n.Build, n.Runtime) }) == nil
	})
}

const leftBehind = "WMCO is newer than these nodes: see why it doesn't configure %s"

// lookAtAll shows the Windows, the kubelet and the runtime of all Windows nodes.
var lookAtAll = [][]string{{"oc", "get", "nodes", "-l", "kubernetes.io/os=windows", "-o", "wide"}}

func lookAtNodes(text string, names []string) []action.Action {
	return []action.Action{action.ByHand{Text: fmt.Sprintf(text, rules.SomeOf(names)), Look: [][]string{
		{"oc", "get", "node/" + names[0], "-o", "yaml"},
		{"oc", "-n", "openshift-windows-machine-config-operator", "logs", "deployment/windows-machine-config-operator"},
	}}}
}
