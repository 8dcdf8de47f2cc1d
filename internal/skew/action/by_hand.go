package action

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// ByHand is what no command does.
type ByHand struct {
	defaults
	Text string
	// Object is what it is about, "" for none.
	Object string
	// Save is an object that is kept in a file first; nil for none. Look are command
	// lines that show what helps, as words, Lines such lines as the shell reads them.
	Save  *inventory.Object
	Look  [][]string
	Lines []string
	// Judge is what only a person can tell first; "" for nothing.
	Judge string
	// First: what is chosen decides what of the rest is needed.
	First bool
	// Becomes is what a driver is then; nil where nothing that was read changes.
	Becomes *inventory.Driver
}

func (a ByHand) apply(inv *inventory.Inventory) { become(inv, a.Becomes) }

// rank puts what repairs a driver before what only shows its pods, or waits for
// them: they may be well then.
func (a ByHand) rank() int {
	switch {
	case a.First:
		return rankRemove
	case a.Becomes != nil:
		return rankDrivers
	}
	return ByHandRank
}

func (a ByHand) outcome() *inventory.Driver { return a.Becomes }

func (a ByHand) effect() bool { return a.Becomes != nil }
