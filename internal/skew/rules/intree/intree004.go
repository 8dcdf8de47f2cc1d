package intree

import (
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// earlyVSphere is INTREE004: vSphere's Windows driver on a release that doesn't
// let it serve Windows. On the way to one that does, it only waits.
func earlyVSphere(v *snapshot.View, report rules.Report) {
	minor := v.At.FromMinor()
	if v.DaemonSet.Line != "vsphere" || !snapshot.BeforeVSphere(minor) || registeredEverywhere(v) {
		return
	}
	f := rules.Finding{Case: "early", Facts: rules.Facts{"minor": minor, "first": snapshot.FirstVSphere}, Evidence: rules.Cite(v.DaemonSet.Evidence[:min(2, len(v.DaemonSet.Evidence))])}
	if !snapshot.BeforeVSphere(v.At.Target.MinorString()) {
		f.Case = "early, waits"
	} else {
		f.Do = []action.Action{action.DeleteDaemonSet{Object: v.DaemonSet.Object, Why: "it serves no volume before the control plane is at " + snapshot.FirstVSphere + "; keep in-tree volumes until then"}}
	}
	report(f)
}

// registeredEverywhere tells whether a driver runs somewhere and each of these nodes
// lists it: then somebody switched the feature on.
func registeredEverywhere(v *snapshot.View) bool {
	missing, unread := v.At.Lacking(v.DaemonSet.Provisioner, v.Nodes)
	return len(v.Nodes) > 0 && len(missing)+len(unread) == 0
}

var intree004 = rules.Rule{ID: "INTREE004", Needs: rules.NeedsDrivers, Driver: earlyVSphere, At: rules.AtNow}
