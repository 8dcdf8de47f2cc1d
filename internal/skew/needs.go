package skew

import "github.com/winbake/winbake/internal/inventory"

// What rules need; a rule with other needs lists them itself. A resource that
// is missing makes its rules not evaluated, and DATA002 UNKNOWN.
var (
	needsDrivers = []inventory.Resource{inventory.DaemonSets}
	needsNodes   = []inventory.Resource{inventory.Nodes}
	// needsScope is for rules that hold a driver against the nodes it runs on.
	needsScope  = []inventory.Resource{inventory.DaemonSets, inventory.Nodes}
	needsClaims = []inventory.Resource{inventory.Pods}
	needsPods   = []inventory.Resource{inventory.DaemonSets, inventory.Pods}
)
