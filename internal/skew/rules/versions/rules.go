// Package versions holds the rules on versions of a Windows driver against the
// Linux one (SKEW).
package versions

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, skew001, skew002, skew003, skew005, skew006)
