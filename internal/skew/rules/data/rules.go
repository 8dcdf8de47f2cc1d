// Package data holds the rules on what the other rules had to go by (DATA).
package data

import (
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{data001, data002}
