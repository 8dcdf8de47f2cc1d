// Package registration holds the rules on whether drivers are registered with
// their nodes, once each (REG).
package registration

import (
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{reg001, reg002, reg003, reg004, reg005}
