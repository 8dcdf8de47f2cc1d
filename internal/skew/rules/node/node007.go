package node

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// runtimeSkew is NODE007: containerd against the kubelet beside it. On WMCO's own nodes only
// WMCO can change it.
func runtimeSkew(snap *snapshot.Snapshot, report rules.Report) {
	if snap.Phase == snapshot.Target {
		broughtRuntime(snap, report)
		return
	}
	for _, nodes := range snapshot.GroupBy(snap.Nodes, func(n *inventory.Node) string {
		return fmt.Sprint(n.Runtime, " ", n.Kubelet, " ", n.WMCO != "")
	}) {
		v := catalog.ContainerdVersion(nodes[0].Runtime)
		kubelet, err := version.ParseKubernetes(nodes[0].Kubelet)
		if v == nil || err != nil {
			continue // NODE001 tells of the kubelet, NODE005 of Docker
		}
		faults, good := runtimeFaults(snap, v, kubelet.MinorString())
		if len(faults) == 0 {
			continue
		}
		f := rules.Finding{
			Case: "too old", Facts: rules.Facts{"nodes": nodes, "runtime": v, "kubelet": nodes[0].Kubelet, "faults": strings.Join(faults, "; "), "good": good},
			Same: nodes[0].Runtime, Evidence: snapshot.NodeEvidence(nodes),
		}
		if nodes[0].WMCO != "" {
			f.Case, f.Severity = "too old, WMCO's", finding.Info
		} else {
			text := "install containerd " + good + " or newer on " + rules.SomeOf(snapshot.NodeNames(nodes)) + ", one node at a time, drained"
			if by := inventory.Brings(nodes[0].Kubelet, nodes[0].Labels); by != "" {
				text = "replace " + rules.SomeOf(snapshot.NodeNames(nodes)) + " by nodes of a newer image or release of " + by + ", whose containerd is " + good + " or newer"
			}
			f.Do = []action.Action{action.ByHand{Text: text, Look: lookAtAll}}
		}
		report(f)
	}
}

// runtimeFaults are what is wrong with a containerd beside a kubelet, and the release to take.
func runtimeFaults(snap *snapshot.Snapshot, v *semver.Version, kubernetes string) (faults []string, good string) {
	row, line := snap.Catalog.ContainerdOf(kubernetes), snap.Catalog.ContainerdLineOf(v)
	if row != nil && !row.Takes(v) {
		faults = append(faults, fmt.Sprintf("Kubernetes %s is tested from %s on", kubernetes, strings.Join(row.Least, ", ")))
	}
	if line != nil {
		if open := line.Open(v); len(open) > 0 {
			faults = append(faults, "vulnerable: "+strings.Join(open, ", "))
		}
	}
	if line != nil && snap.Request.Now > line.Ended {
		faults = append(faults, "support of "+line.Line+" ended on "+line.Ended)
	}
	for _, l := range snap.Catalog.ContainerdLines { // the oldest line that is supported and fits
		if fixed := l.Good(); good == "" && fixed != nil && (row == nil || row.Takes(fixed)) && snap.Request.Now <= l.Ended {
			good = fixed.String()
		}
	}
	return faults, good
}

// broughtRuntime tells what the WMCO of the update brings, where Kubernetes wants a newer one.
func broughtRuntime(snap *snapshot.Snapshot, report rules.Report) {
	r := snap.CatalogRelease()
	if r == nil || !snap.UsesWMCO() {
		return
	}
	var brings catalog.WMCORelease
	for _, w := range snap.Catalog.WMCOFor(r.OpenShift) {
		brings = w // the newest
	}
	row := snap.Catalog.ContainerdOf(r.Kubernetes)
	if v, err := semver.NewVersion(brings.Containerd); err == nil && row != nil && !row.Takes(v) {
		report(rules.Finding{Case: "brought", Facts: rules.Facts{"runtime": v, "row": row, "minor": r.OpenShift}, Same: r.OpenShift, Source: row.Evidence[0].Source, Evidence: snap.CatalogEvidence()})
	}
}

var node007 = rules.Rule{ID: "NODE007", Needs: rules.NeedsNodes, Cluster: runtimeSkew}
