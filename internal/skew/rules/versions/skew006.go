package versions

import (
	"fmt"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

var skew006 = rules.Rule{ID: "SKEW006", Needs: []inventory.Resource{inventory.DaemonSets, inventory.Pods}, Driver: mixedRollout, At: rules.AtNow}

// halfChanged tells of a pod whose containers of the driver's image are of two versions.
func halfChanged(v *snapshot.View, report rules.Report) {
	d := v.DaemonSet
	for _, s := range d.Siblings {
		if s.Image.Reference != d.Image.Reference {
			report(rules.Finding{
				Case: "half changed", Same: s.Container, Facts: rules.Facts{"sibling": s}, Evidence: []inventory.Evidence{d.Version.At},
				Do: []action.Action{action.SetImage{Object: d.Object, Provisioner: d.Provisioner, Container: s.Container, Was: s.Image.Reference, Image: d.Image.Reference, Strategy: d.Strategy, To: d.Version.Version}},
			})
		}
	}
}

func mixedRollout(v *snapshot.View, report rules.Report) {
	halfChanged(v, report)
	evidence := running(v)
	if len(evidence) == 0 {
		evidence = v.DaemonSet.Evidence
	}
	observed := ""
	switch r, images := v.DaemonSet.Rollout, snapshot.ImagesRunning(v.DaemonSet); {
	case images > 1:
		observed = inventory.Many(images, "image") + " run"
	case v.At.Hops == 0: // AFTER001 reports rollouts then
		return
	case r != nil && r.Observed && r.Updated < r.Desired:
		observed = fmt.Sprintf("%d of %d pods are of the current template", r.Updated, r.Desired)
	default:
		return
	}
	d := rules.Finding{
		Case: "mixed", Observed: observed, Evidence: evidence,
		Do: []action.Action{action.WaitRollout{Object: v.DaemonSet.Object, Provisioner: v.DaemonSet.Provisioner, Strategy: v.DaemonSet.Strategy}},
	}
	if v.DaemonSet.Strategy == "OnDelete" {
		d.Observed += ", the update strategy is OnDelete"
	}
	report(d)
}
