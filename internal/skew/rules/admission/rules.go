// Package admission holds the rules on whether a driver's pods are let in, by
// the namespace and by the nodes (POLICY, NODE004).
package admission

import (
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{policy001, node004}
