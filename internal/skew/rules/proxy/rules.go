// Package proxy holds the rules on csi-proxy: whether it is there, and serves
// what drivers dial (PROXY).
package proxy

import (
	"embed"

	"github.com/winbake/winbake/internal/skew/rules"
)

//go:embed *.yaml
var texts embed.FS

// Rules are those of the family.
var Rules = rules.Family(texts, proxy001, proxy003, proxy004, proxy005, proxy007)
