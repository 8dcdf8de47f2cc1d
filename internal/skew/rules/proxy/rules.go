package proxy

import (
	"github.com/winbake/winbake/internal/skew/rules"
)

// Rules are those of the family.
var Rules = []rules.Rule{
	{ID: "PROXY001", Needs: rules.NeedsScope, Driver: proxyAbsent},
	{ID: "PROXY003", Needs: rules.NeedsDrivers, Driver: pipeNotMounted, Lacks: true, At: rules.ExceptTarget},
	{ID: "PROXY004", Needs: rules.NeedsScope, Driver: proxyWMIC, Starts: true, At: rules.ExceptTarget},
	{ID: "PROXY005", Needs: rules.NeedsScope, Cluster: proxyDouble},
	{ID: "PROXY007", Needs: rules.NeedsNodes, Cluster: proxyVulnerable, At: rules.AtNow},
}
