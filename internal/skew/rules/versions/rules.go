// Package versions holds the rules on versions of a Windows driver against the
// Linux one (SKEW).
package versions

import (
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "SKEW001", Needs: rules.NeedsDrivers, Driver: minorDistance},
	{ID: "SKEW002", Needs: rules.NeedsDrivers, Driver: majorDiffers},
	{ID: "SKEW003", Needs: rules.NeedsDrivers, Driver: knownIncompatible},
	{ID: "SKEW005", Needs: rules.NeedsDrivers, Driver: versionUnknown, Cluster: systemUnknown},
	{ID: "SKEW006", Needs: []inventory.Resource{inventory.DaemonSets, inventory.Pods}, Driver: mixedRollout, At: rules.AtNow},
}
