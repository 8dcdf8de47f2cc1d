// Package intree holds the rules on in-tree volumes that block an update
// (INTREE, and AFTER003).
package intree

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, intree001, intree002, intree003, intree004)
