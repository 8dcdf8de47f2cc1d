// Package admission holds the rules on whether a driver's pods are let in, by
// the namespace and by the nodes (POLICY, NODE004).
package admission

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, policy001, node004)
