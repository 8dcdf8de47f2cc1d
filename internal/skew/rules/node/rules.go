// Package node holds the rules on Windows nodes: kubelet, WMCO, Windows itself
// (NODE).
package node

import "github.com/winbake/winbake/internal/skew/rules"

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "NODE001", Needs: rules.NeedsNodes, Cluster: kubeletSkew, At: rules.ExceptPlan},
	{ID: "NODE002", Needs: rules.NeedsNodes, Cluster: operatorSkew, At: rules.ExceptPlan},
	{ID: "NODE003", Needs: rules.NeedsScope, Driver: windowsBuild, Lacks: true, Starts: true, At: rules.ExceptTarget},
	{ID: "NODE005", Needs: rules.NeedsScope, Driver: oldRuntime, Starts: true, At: rules.ExceptTarget},
}
