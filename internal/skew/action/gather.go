package action

import (
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Gather reads what is missing, for the next check.
type Gather struct {
	defaults
	Text string
	// Get are what oc reads, File is where to; "" prints it.
	Get  []string
	File string
	// Into are what a must-gather lacks instead, whose reader knows where it belongs.
	Into []*inventory.Gather
}

func (Gather) rank() int { return rankFirst }

func (Gather) effect() bool { return false }
