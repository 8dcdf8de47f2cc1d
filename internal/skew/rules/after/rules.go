// Package after holds the check after an update (AFTER).
package after

import (
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{after001, after002, after003, after004}
