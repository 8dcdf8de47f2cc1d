package hostprocess

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var hp002 = rules.Rule{ID: "HP002", Needs: rules.NeedsDrivers, Driver: hostProcessPipes, Starts: true}

func hostProcessPipes(v *snapshot.View, report rules.Report) {
	mounts, at := mountedPipes(v.DaemonSet)
	if !v.DaemonSet.HostProcess || mounts == "" {
		return
	}
	report(rules.Finding{Case: "mounts pipes", Facts: rules.Facts{"mounts": mounts}, Do: withoutPipes(v), Evidence: at})
}

// mountedPipes names the pipes that any container of the pod mounts, wherever
// to: all of a HostProcess pod's containers are such containers.
func mountedPipes(d *inventory.Driver) (string, []inventory.Evidence) {
	names := snapshot.Map(d.Pipes, inventory.Pipe.Name)
	at := pipeEvidence(d)
	for _, p := range d.Unmounted {
		if p.Container != "" {
			names = append(names, fmt.Sprintf("%s (in %s)", p.Name(), p.Container))
			at = append(at, p.At)
		}
	}
	return strings.Join(names, ", "), at
}

// withoutPipes leads to a pod that mounts none: the DaemonSet of its version
// where bake writes it, which is sure to have nothing else left over.
func withoutPipes(v *snapshot.View) []action.Action {
	windows, known := v.Windows()
	if _, ok := remedy.Bakes(v, windows, true); known && ok {
		return remedy.Replacement(v, windows, true, "")
	}
	return []action.Action{action.ByHand{Text: fmt.Sprintf("remove the hostPath volumes csi-proxy-* and their mounts from %s", v.DaemonSet.Object), Object: v.DaemonSet.Object.String()}}
}
