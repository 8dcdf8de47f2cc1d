// Package registration holds the rules on whether drivers are registered with
// their nodes, once each (REG).
package registration

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, reg001, reg002, reg003, reg004, reg005, reg006, reg007)
