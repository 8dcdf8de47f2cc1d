// Package hostprocess holds the rules on how a driver's container reaches the
// node (HP).
package hostprocess

import "github.com/winbake/winbake/internal/skew/rules"

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "HP001", Needs: rules.NeedsDrivers, Driver: hostProcessRequired, Lacks: true},
	{ID: "HP002", Needs: rules.NeedsDrivers, Driver: hostProcessPipes, Starts: true},
	{ID: "HP003", Needs: rules.NeedsDrivers, Driver: hostProcessFlag, Lacks: true, Starts: true},
	{ID: "HP004", Needs: rules.NeedsDrivers, Driver: hostProcessImage, Lacks: true, Starts: true},
	{ID: "HP005", Needs: rules.NeedsDrivers, Driver: hostProcessCrossing},
}
