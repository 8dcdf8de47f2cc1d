package skew

import "github.com/winbake/winbake/internal/inventory"

// What rules need; a rule with other needs lists them itself.
var (
	needsNodes = []inventory.Resource{inventory.Nodes}
	needsPods  = []inventory.Resource{inventory.Pods}
)
