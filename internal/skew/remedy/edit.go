package remedy

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// serviceAccount is what a driver's pods run as; "" of a manifest that isn't
// whole, where the rest may say it.
func serviceAccount(d *inventory.Driver) string {
	if d.Partial != "" {
		return d.ServiceAccount
	}
	return cmp.Or(d.ServiceAccount, "default")
}

// Tolerate has a driver run on every node that it selects.
func Tolerate(d *inventory.Driver) []action.Action {
	to := *d
	to.Scheduling.Tolerations = []inventory.Toleration{{Operator: "Exists"}}
	return []action.Action{action.EditDriver{
		Object: d.Object, Becomes: &to, Strategy: d.Strategy,
		Patch: `{"spec":{"template":{"spec":{"tolerations":[{"operator":"Exists"}]}}}}`,
		Text:  fmt.Sprintf("give the pods of %s the toleration operator: Exists, which takes all nodes that it selects", d.Object),
	}}
}

// UpdateWMCO brings WMCO to its release for a minor. Nodes of a cluster without it are
// kept by a person.
func UpdateWMCO(snap *snapshot.Snapshot, minor string) []action.Action {
	if !snap.UsesWMCO() {
		return []action.Action{action.ByHand{Text: fmt.Sprintf("update the Windows nodes to kubelet and containerd of OpenShift %s the way they were set up: no WMCO keeps them", minor)}}
	}
	return []action.Action{WMCOOf(snap, minor)}
}

// WMCOOf is the operator's release for a minor, as far as the catalog knows it.
func WMCOOf(snap *snapshot.Snapshot, minor string) action.UpdateWMCO {
	up := action.UpdateWMCO{OpenShift: minor, Kubernetes: snap.Catalog.KubernetesOf(minor)}
	if list := snap.Catalog.WMCOFor(minor); len(list) > 0 {
		up.WMCO = list[len(list)-1].From
	}
	return up
}

// WMCOFrom brings WMCO to a release or a newer one of its minor.
func WMCOFrom(snap *snapshot.Snapshot, r catalog.WMCORelease) action.UpdateWMCO {
	return action.UpdateWMCO{OpenShift: r.OpenShift, WMCO: r.From, AtLeast: true, Kubernetes: snap.Catalog.KubernetesOf(r.OpenShift)}
}

// Gather reads objects of the whole cluster for the next check.
func Gather(what, file string) []action.Action {
	return []action.Action{action.Gather{Text: "give them to the check with --manifests " + file + ", or let it read the cluster", Get: []string{"get", what, "--all-namespaces", "-o", "yaml"}, File: file}}
}

// LookAtBuild shows the build of a node's Windows.
func LookAtBuild(node string) []action.Action {
	return []action.Action{action.Gather{Text: "show the node's build", Get: []string{"get", "node", node, "-o", "jsonpath={.status.nodeInfo.kernelVersion}"}}}
}

// byHand is what a person does about the driver.
func byHand(v *snapshot.View, format string, args ...any) []action.Action {
	return []action.Action{action.ByHand{Text: fmt.Sprintf(format, args...), Object: v.DaemonSet.Object.String()}}
}

// InFile tells whether the DaemonSet is a manifest, with no cluster behind it.
func InFile(v *snapshot.View) bool { return v.Planned || v.At.Request.Static }

// Container is the name of the driver's container, in a sentence.
func Container(d *inventory.Driver) string { return cmp.Or(d.Container, "of the driver") }

// SelectWindows has a driver select nodes by their system as labels write it, where
// its selector has a capital; nil for any other.
func SelectWindows(d *inventory.Driver) []action.Action {
	for _, label := range []string{"kubernetes.io/os", "beta.kubernetes.io/os"} {
		if os := d.Scheduling.NodeSelector[label]; os == "windows" || !strings.EqualFold(os, "windows") {
			continue
		}
		to := *d
		to.Scheduling.NodeSelector = maps.Clone(d.Scheduling.NodeSelector)
		to.Scheduling.NodeSelector[label] = "windows"
		return []action.Action{action.EditDriver{
			Object: d.Object, Becomes: &to, Strategy: d.Strategy,
			Patch: fmt.Sprintf(`{"spec":{"template":{"spec":{"nodeSelector":{%q:"windows"}}}}}`, label),
			Text:  fmt.Sprintf("let %s select nodes by %s: windows", d.Object, label),
		}}
	}
	return nil
}
