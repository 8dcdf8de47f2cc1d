// Package data holds the rules on what the other rules had to go by (DATA).
package data

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, data001, data002)
