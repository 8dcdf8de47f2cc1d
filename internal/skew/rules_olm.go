package skew

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
)

// olmRules judge drivers whose Linux side an operator from OperatorHub brings.
var olmRules = []rule{{Rule: Rule{
	ID: "OLM001", Title: "the Linux driver comes with an operator from OperatorHub", Severity: finding.Info, Scope: PerDriver,
	Ground: "SMB and Secrets Store aren't in OpenShift's payload: their versions move with their operators",
	Source: "https://github.com/openshift/csi-operator",
	Text: `INFO for a Windows driver whose Linux side isn't part of OpenShift's release. It is compared
with the Linux DaemonSet where that was read, otherwise with what the operator of the same
minor had at the catalog's date. The operator's own update, not the cluster's, moves it.`,
	Remedy: "compare again after the operator's own update",
	Needs:  needsDrivers,
}, driver: fromOperatorHub}}

// fromOperatorHub is OLM001.
func fromOperatorHub(v *view, out *sink) {
	if v.Catalog == nil || !v.Catalog.OLM || v.LinuxNow.Driver != nil && !v.LinuxNow.Driver.OperatorManaged {
		return
	}
	l := v.Linux()
	d := draft{
		Severity: finding.Info,
		Observed: "Linux " + l.String() + ", by the Linux DaemonSet",
		Expected: "the version of the operator's ClusterServiceVersion",
		Why:      "the operator's update moves the Linux side, not the cluster's",
		Remedy:   "compare after the operator's own update:\noc get csv -A",
		When:     after, Evidence: slices.Concat(v.evidence(), l.evidence()), NoStep: true,
	}
	switch {
	case !l.Known():
		d.Observed = "Linux version unknown: " + l.Reason
	case v.guessed():
		d.Observed = fmt.Sprintf("Linux %s, what the operator for OpenShift %s had on %s", l, v.Release().MinorString(), v.cat.AsOf)
	}
	out.add(d)
}
