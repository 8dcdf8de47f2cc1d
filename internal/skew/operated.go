package skew

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// operated tells whether an operator of OpenShift deployed a Windows DaemonSet
// and keeps it at the Linux version. An operator's marks alone don't tell:
// whoever makes his DaemonSet from the YAML of the Linux one copies them. So one
// of the releases that may have deployed it must be one that does such a thing.
func (x *index) operated(d *inventory.Driver) bool {
	if !d.OperatorManaged || x.isPlanned(d) {
		return false
	}
	return slices.ContainsFunc(x.deployers(), func(minor string) bool {
		r := x.cat.Release(minor)
		return r != nil && slices.Contains(r.WindowsManaged, d.Line)
	})
}

// deployers are the releases whose operators may have deployed what was read:
// the one that the cluster runs, and that of an update which isn't complete.
// Where the former isn't known it is the first that is.
func (x *index) deployers() []string {
	list := []string{x.inv.Cluster.Updating}
	for _, stop := range x.stops {
		if !stop.IsZero() {
			return append(list, stop.MinorString())
		}
	}
	return list
}

// isPlanned tells whether a DaemonSet is of the planned manifests.
func (x *index) isPlanned(d *inventory.Driver) bool {
	for i := range x.req.Planned {
		if d == &x.req.Planned[i] {
			return true
		}
	}
	return false
}

// mistakable tells of DaemonSets that look like an operator's and can't be:
// they are judged as what they are, the admin's own.
func (w *world) mistakable() []draft {
	var said []draft
	for _, d := range w.windows() {
		if !d.OperatorManaged || w.operated(d) {
			continue
		}
		f := draft{Severity: finding.Info, Object: d.Object.String(), Same: "marks"}
		f.Observed = fmt.Sprintf("it carries what OpenShift's operators leave on theirs (an annotation operator.openshift.io/..., an owner, or the release's own image), and %s deploys no Windows DaemonSet of %s",
			releaseText(w.From, "the cluster's release"), cmp.Or(d.Provisioner, "this driver"))
		f.Expected = "no operator's marks on a DaemonSet of your own"
		f.Why = "nobody keeps it at the Linux driver's version, so it is judged as deployed by hand; a copy of the Linux DaemonSet's YAML brings the marks along, and with an owner it is deleted when that is"
		f.Do, f.When = []action.Action{action.EditDriver{Object: d.Object, Text: "take an operator's annotations and owner off " + d.Object.String(),
			Patch: `{"metadata":{"ownerReferences":null,"annotations":{"operator.openshift.io/spec-hash":null,"operator.openshift.io/pull-spec":null}}}`}}, before
		f.Evidence = cite(d.Evidence[:min(1, len(d.Evidence))])
		said = append(said, f)
	}
	return said
}
