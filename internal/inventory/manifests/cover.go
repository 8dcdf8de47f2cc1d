package manifests

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/inventory"
)

// resources are those that manifests can hold. What only a cluster has, such as
// its ClusterVersion, is read where it is, and missed by nobody in Git.
var resources = []inventory.Resource{
	inventory.DaemonSets, inventory.Nodes, inventory.CSINodes, inventory.Pods, inventory.Volumes, inventory.Claims,
	inventory.ClusterVersion, inventory.Services,
}

// extras are told of only where there are some: few checks need them. That there
// are no other Namespaces than those that are in manifests nobody can say.
var extras = []inventory.Resource{inventory.Pools, inventory.CSIDrivers, inventory.AdminGates, inventory.AdminAcks}

// cover says how much there is of each resource. What is there counts for
// all there is, but for Nodes that other objects name. What isn't there may be
// anywhere, and so may what stood in a file that couldn't be read.
func (r *reader) cover() {
	for _, resource := range slices.Concat(resources, extras) {
		if slices.Contains(extras, resource) && r.c.Count(resource) == 0 {
			continue
		}
		cov := inventory.Coverage{Count: r.c.Count(resource)}
		if resource == inventory.Pods {
			cov.Count += r.c.Workloads()
		}
		switch {
		case cov.Count == 0:
			cov.Reason = "not in these manifests"
		case r.broken > 0:
			cov.Reason, cov.Told = fmt.Sprintf("%s couldn't be read", inventory.Many(r.broken, "input")), true
		case resource == inventory.Nodes && len(r.c.UnreadNodes()) > 0:
			cov.Reason = "nodes that CSINodes or pods name aren't in these manifests: " + inventory.Some(r.c.UnreadNodes())
		default:
			cov.Complete = true
		}
		r.c.Cover(resource, cov)
	}
}
