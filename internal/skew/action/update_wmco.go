package action

import (
	"maps"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// UpdateWMCO lets WMCO follow, and the Windows nodes with it.
type UpdateWMCO struct {
	defaults
	// OpenShift is the minor, WMCO the first release of WMCO for it, "" where the
	// catalog doesn't know it, Kubernetes that of its kubelet.
	OpenShift, WMCO, Kubernetes string
	// AtLeast: an older WMCO of that minor won't do.
	AtLeast bool
	// Unseen: nodes show that it was there, and nothing that it is.
	Unseen bool
	// Held: WMCO holds nodes that have volumes until each is released.
	Held bool
	// Again: it was removed, and comes back from the Subscription that was saved.
	Again bool
}

func (a UpdateWMCO) kind() string {
	if a.Again {
		return "install-wmco"
	}
	return "update-wmco"
}

func (a UpdateWMCO) apply(inv *inventory.Inventory) {
	if a.WMCO == "" {
		return
	}
	inv.Cluster.WMCO, inv.Cluster.Services = a.WMCO, nil
	for i := range inv.Nodes {
		n := &inv.Nodes[i]
		if n.WMCO == "" {
			continue
		}
		n.WMCO, n.DesiredWMCO, n.CSIProxy = a.WMCO, "", nil
		if ConfiguresCSI(a.OpenShift, inv.Cluster.Platform) {
			n.Labels = maps.Clone(n.Labels)
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[ConfiguredForCSI] = "true"
		}
		if a.Kubernetes != "" {
			n.Kubelet = "v" + a.Kubernetes + ".0"
		}
	}
}

// ConfiguredForCSI is the label of a node that WMCO has configured for CSI.
const ConfiguredForCSI = "windowsmachineconfig.openshift.io/configured-with-csi"

// ConfiguresCSI tells whether WMCO for a release puts that label on the nodes of a
// platform: WMCO 8.1 (4.13) wherever that is known and not vSphere, WMCO 9 (4.14)
// everywhere, no other one anywhere. openshift/windows-machine-config-operator,
// release-4.13 and release-4.14: CSIStorageEnabled in pkg/cluster/config.go.
func ConfiguresCSI(openshift, platform string) bool {
	return openshift == "4.14" || openshift == "4.13" && platform != "VSphere" && platform != ""
}

func (UpdateWMCO) rank() int { return rankNodes }
