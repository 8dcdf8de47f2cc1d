// Package update holds the rules on what the cluster itself says about an update
// (UPDATE, INTREE005).
package update

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Acknowledgements is the rule on them; its ID says where it comes from.
var Acknowledgements = rules.Family(texts, intree005)

// Rules are those of the family.
var Rules = rules.Family(texts, update001, update002, update003, update004, update005)
