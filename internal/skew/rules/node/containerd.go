package node

import (
	"fmt"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// oldRuntime is NODE005: a HostProcess driver on nodes whose container runtime runs
// no such containers, or has their volumes elsewhere than the pod asks for.
func oldRuntime(v *snapshot.View, report rules.Report) {
	if !v.DaemonSet.HostProcess {
		return
	}
	for _, nodes := range snapshot.GroupBy(v.Nodes, func(n *inventory.Node) string { return n.Runtime }) {
		runtime := nodes[0].Runtime
		runs, binds, known := catalog.HostProcessOn(runtime)
		d := rules.Finding{
			Severity: finding.Block, Same: runtime, When: rules.Before, Nodes: nodes, Evidence: append(v.Evidence(), snapshot.NodeEvidence(nodes)...),
			Observed: fmt.Sprintf("%s on %s, and the driver is a HostProcess container", runtime, rules.SomeOf(snapshot.NodeNames(nodes))),
			Expected: "containerd 1.6 or newer",
			Why:      "an older runtime knows no HostProcess containers, so no pod starts there",
			Remedy:   "let WMCO bring these nodes a newer containerd, or deploy the driver with csi-proxy's pipes",
		}
		switch {
		case !known || runs && (binds || v.DaemonSet.MountedSocket == ""):
			continue
		case runs:
			d.Severity = finding.Warn
			d.Observed += fmt.Sprintf("; its socket is below the mount %s", v.DaemonSet.MountedSocket)
			d.Expected = "a socket at its path on the node, or containerd 1.7"
			d.Why = "containerd 1.6 has a HostProcess container's mounts below $CONTAINER_SANDBOX_MOUNT_POINT alone, so the kubelet doesn't find the socket"
			d.Remedy = fmt.Sprintf(`in %s give the driver and its sidecars the socket's path on the node, C:\var\lib\kubelet\plugins\%s\csi.sock, as the project's HostProcess manifest does`, v.DaemonSet.Object, v.DaemonSet.Provisioner)
		}
		report(d)
	}
}
