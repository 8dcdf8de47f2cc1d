// Package node holds the rules on Windows nodes: kubelet, WMCO, Windows itself
// (NODE).
package node

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, node001, node002, node003, node005, node006, node007)
