// Package compile makes one artifact of one component, or takes it from the
// store when the same action ran before.
//
// It resolves nothing: what to build is decided by pins and lock, and a
// source that differs from its lock stops the build.
package compile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
)

// ldflags drop DWARF and keep the symbol table, which lets verify read the
// stamped variables themselves.
const ldflags = "-w"

// Action is everything that decides an artifact's bytes. Fields that don't
// apply are empty.
type Action struct {
	Version  int       `json:"version"`
	Kind     pins.Kind `json:"kind"`
	Module   string    `json:"module,omitempty"`
	ModuleAt string    `json:"moduleVersion,omitempty"`
	Sum      string    `json:"sum,omitempty"`
	Commit   string    `json:"commit,omitempty"`
	Tree     string    `json:"tree,omitempty"`
	Date     string    `json:"date,omitempty"` // of a git source's commit: one that the lock misstates was never proved
	Dir      string    `json:"dir,omitempty"`
	Modules  bool      `json:"submodules,omitempty"`
	GoMod    string    `json:"goMod,omitempty"`
	GoSum    string    `json:"goSum,omitempty"`
	// Godebug is what the pin sets in the place of the source's own go.mod. GoMod has it
	// too, but a vendored tree has none.
	Godebug   *pins.Godebug     `json:"godebug,omitempty"`
	Package   string            `json:"package"`
	Toolchain string            `json:"toolchain"`
	GoSums    []string          `json:"toolchainSums,omitempty"`
	Settings  []gotool.Setting  `json:"settings"`
	Flags     []string          `json:"flags"`
	Stamps    map[string]string `json:"stamps,omitempty"`
}

// Digest is the key of the artifact in the store, "sha256:<hex>". JSON sorts
// the stamps, and every other field has an order of its own.
func (a *Action) Digest() string {
	data, err := json.Marshal(a)
	if err != nil {
		panic("an action is plain data: " + err.Error())
	}
	return DigestOf(string(data))
}

// DigestOf returns "sha256:<hex>" of a text.
func DigestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256:" + hex.EncodeToString(sum[:])
}
