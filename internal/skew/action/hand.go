package action

import (
	"github.com/winbake/winbake/internal/inventory"
)

// ByHand is what no command does.
type ByHand struct {
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
	// Becomes is what a driver is then; nil where nothing that was read changes.
	Becomes *inventory.Driver
}

func (a ByHand) apply(inv *inventory.Inventory) { become(inv, a.Becomes) }

// Check looks at the result with verify.
type Check struct{}

// Gather reads what is missing, for the next check.
type Gather struct {
	Text string
	// Get are what oc reads, File is where to; "" prints it.
	Get  []string
	File string
	// Into are what a must-gather lacks instead, whose reader knows where it belongs.
	Into []*inventory.Gather
}

// ReadPayload writes a release's payload to a file that --release-image takes.
type ReadPayload struct {
	Text string
}
