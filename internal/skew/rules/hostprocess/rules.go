// Package hostprocess holds the rules on how a driver's container reaches the
// node (HP).
package hostprocess

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, hp001, hp002, hp003, hp004, hp005)
