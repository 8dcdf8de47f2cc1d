package skew

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

// titles name resources for people.
var titles = map[inventory.Resource]string{
	inventory.DaemonSets:     "DaemonSets",
	inventory.Nodes:          "Nodes",
	inventory.CSINodes:       "CSINodes",
	inventory.Pods:           "Pods",
	inventory.Volumes:        "PersistentVolumes",
	inventory.Claims:         "PersistentVolumeClaims",
	inventory.ClusterVersion: "the ClusterVersion",
	inventory.Services:       "WMCO's ConfigMap windows-services",
	inventory.Namespaces:     "Namespaces",
	inventory.Pools:          "MachineConfigPools",
	inventory.CSIDrivers:     "ClusterCSIDrivers",
	inventory.AdminGates:     "the ConfigMap admin-gates",
	inventory.AdminAcks:      "the ConfigMap admin-acks",
}

// missing says which of the resources wasn't read; "" where all were, if only
// in part.
func (x *index) missing(needs []inventory.Resource) string {
	var list []string
	for _, r := range needs {
		if !x.covered(r) {
			list = append(list, x.missingOne(r))
		}
	}
	return strings.Join(list, "; ")
}

func (x *index) missingOne(r inventory.Resource) string {
	return fmt.Sprintf("%s: %s", titles[r], x.unreadReason(r))
}

func (x *index) unreadReason(r inventory.Resource) string {
	return cmp.Or(x.inv.Read[r].Reason, "not in what was read")
}

// resourceOrder is the order in which missing resources are told.
var resourceOrder = []inventory.Resource{
	inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods, inventory.Volumes, inventory.Claims,
	inventory.ClusterVersion, inventory.Services, inventory.Namespaces, inventory.Pools, inventory.CSIDrivers,
	inventory.AdminGates, inventory.AdminAcks,
}
