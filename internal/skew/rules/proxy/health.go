package proxy

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// proxyDouble is PROXY005: a csi-proxy DaemonSet on nodes whose WMCO runs one
// as a service, now or after the update.
func proxyDouble(snap *snapshot.Snapshot, report rules.Report) {
	for _, p := range snapshot.Pointers(snap.Inventory.Proxies) {
		var both, unsure []snapshot.CSIProxy
		for _, n := range snap.Nodes {
			if !p.Scheduling.Matches(*n) || n.WMCO == "" {
				continue
			}
			s := snap.CSIProxyOn(n)
			switch now := s.WMCO; {
			case snap.Phase == snapshot.Target && !now && snap.CSIProxyAfter(n).WMCO:
				both = append(both, snap.CSIProxyAfter(n))
			case snap.Phase != snapshot.Now:
			case now:
				both = append(both, s)
			case snap.WMCORow(n.WMCO) == nil && snap.ServiceList(n.WMCO) == nil:
				unsure = append(unsure, s)
			}
		}
		twoOwners(snap, p, both, map[bool]string{true: "two will run", false: "two run"}[snap.Phase == snapshot.Target], report)
		twoOwners(snap, p, unsure, "two may run", report)
	}
}

func twoOwners(snap *snapshot.Snapshot, p *inventory.Proxy, ss []snapshot.CSIProxy, name string, report rules.Report) {
	if len(ss) == 0 {
		return
	}
	f := rules.Finding{
		Case: name, Facts: rules.Facts{"set": p.Object, "nodes": nodesOf(ss), "wmco": ss[0].Node.WMCO}, Same: string(snap.Phase), Evidence: rules.Cite(slices.Concat([]inventory.Evidence{p.At}, serviceEvidence(ss))),
		Do: deleteProxy(p, "WMCO runs csi-proxy as a service on its nodes"),
	}
	if name == "two may run" {
		text := fmt.Sprintf("see whether csi-proxy is among WMCO's services, and delete %s only if it is", p.Object)
		f.Do = []action.Action{action.Gather{Text: text, Get: []string{"-n", "openshift-windows-machine-config-operator", "get", "configmap", "windows-services-" + ss[0].Node.WMCO, "-o", "jsonpath={.data.services}"}}}
	} else if others := onlyProxyOf(snap, p, ss); len(others) > 0 {
		f.Do, f.Remedy = nil, fmt.Sprintf("keep %s off %s, and on %s: give the nodes that WMCO doesn't configure a label (csi-proxy=daemonset), and the DaemonSet a node selector for it", p.Object, rules.SomeOf(serviceNodes(ss)), rules.SomeOf(others))
	}
	report(f)
}

// onlyProxyOf are the nodes on which a DaemonSet's csi-proxy is the only one:
// those of its nodes that aren't among ss.
func onlyProxyOf(snap *snapshot.Snapshot, p *inventory.Proxy, ss []snapshot.CSIProxy) []string {
	return snapshot.NodeNames(snapshot.Select(snap.Nodes, func(n *inventory.Node) bool {
		return p.Scheduling.Matches(*n) && !slices.Contains(nodesOf(ss), n)
	}))
}

func proxyVulnerable(snap *snapshot.Snapshot, report rules.Report) {
	bad := snapshot.Select(snapshot.Map(snap.Nodes, snap.CSIProxyOn), func(s snapshot.CSIProxy) bool {
		r := proxyRelease(snap, s)
		return r != nil && len(r.CVEs) > 0
	})
	for _, ss := range snapshot.GroupBy(bad, func(s snapshot.CSIProxy) string { return s.Version.String() + s.By }) {
		report(rules.Finding{
			Case: "vulnerable", Facts: rules.Facts{"proxy": &ss[0], "text": proxyText(ss), "nodes": nodesOf(ss), "cves": proxyRelease(snap, ss[0]).CVEs, "safe": firstSafe(snap)},
			Same: ss[0].By, Do: raiseProxy(snap, firstSafe(snap), ss), Evidence: rules.Cite(serviceEvidence(ss)),
		})
	}
}

func firstSafe(snap *snapshot.Snapshot) string {
	safe := ""
	for _, r := range slices.Backward(snap.Catalog.CSIProxy) {
		if len(r.CVEs) > 0 {
			break
		}
		safe = r.Version
	}
	return safe
}

// pipeNotMounted is PROXY003: the driver dials a group of which it mounts no
// version.
func pipeNotMounted(v *snapshot.View, report rules.Report) {
	switch {
	case v.DaemonSet.HostProcess || v.At.KnownUnmatched(v.DaemonSet):
	case v.Line == nil:
		maybeNotMounted(v, report)
	default:
		if missing := snapshot.Unmounted(v.Line, v.DaemonSet); len(missing) > 0 {
			report(notMounted(v, missing))
		}
	}
}

func notMounted(v *snapshot.View, missing []catalog.APIUse) rules.Finding {
	f := aboutPipes(v, "not mounted", rules.Facts{
		"groups": snapshot.Map(missing, func(u catalog.APIUse) string { return u.Group }), "mounted": pipeNames(v.DaemonSet.Pipes),
		"pipes": snapshot.Map(missing, func(u catalog.APIUse) string { return fmt.Sprintf(`\\.\pipe\csi-proxy-%s-%s`, u.Group, u.Versions[0]) }),
	})
	windows, _ := v.Windows()
	if _, ok := remedy.Bakes(v, windows, false); ok {
		f.Case = "not mounted, and bake mounts them"
		f.Do = remedy.Replacement(v, windows, false, "it mounts each pipe that this version dials")
	}
	return f
}

// maybeNotMounted reports a driver whose version isn't known: only if no
// line of it could live with its mounts, or all of them, is there an answer.
func maybeNotMounted(v *snapshot.View, report rules.Report) {
	d := v.DaemonSet
	if v.Catalog == nil || d.Container == "" {
		return // SKEW005 asks for the driver, or for its container
	}
	fits, lines := 0, 0
	for _, line := range snapshot.Pointers(v.Catalog.Lines) {
		if line.HostProcessOnly() {
			continue
		}
		if lines++; len(snapshot.Unmounted(line, d)) == 0 {
			fits++
		}
	}
	if fits == lines || fitsLinux(v) {
		return // SKEW005 asks for the version, and for that of Linux where nobody knows it
	}
	report(aboutPipes(v, "maybe not mounted", rules.Facts{"mounted": pipeNames(d.Pipes)}))
}

func aboutPipes(v *snapshot.View, name string, facts rules.Facts) rules.Finding {
	return rules.Finding{Case: name, Facts: facts, Source: lineSource(v), Evidence: rules.Cite(slices.Concat(pipeEvidence(v), []inventory.Evidence{v.DaemonSet.Version.At}))}
}

func lineSource(v *snapshot.View) string {
	if v.Line != nil && len(v.Line.Evidence) > 0 {
		return v.Line.Evidence[0].Source
	}
	if v.Catalog != nil && len(v.Catalog.Evidence) > 0 {
		return v.Catalog.Evidence[0].Source
	}
	return kep1122
}

// fitsLinux tells whether the driver mounts what the version that Linux has now dials:
// that is the one to pin.
func fitsLinux(v *snapshot.View) bool {
	line := v.Catalog.Line(v.LinuxNow.Newest())
	return v.LinuxNow.Known() && line != nil && !line.HostProcessOnly() && len(snapshot.Unmounted(line, v.DaemonSet)) == 0
}
