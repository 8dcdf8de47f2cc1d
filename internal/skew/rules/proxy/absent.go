package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

const kep1122 = "https://github.com/kubernetes/enhancements/blob/master/keps/sig-windows/1122-windows-csi-support/README.md"

// proxyAbsent is PROXY001: a driver that mounts csi-proxy's pipes on nodes
// where nobody serves them, now or once WMCO was updated.
func proxyAbsent(snap *snapshot.Snapshot, report rules.Report) {
	for _, d := range pipeDrivers(snap) {
		if snap.Phase == snapshot.Target {
			// What runs on the nodes hasn't changed since Now, what comes has.
			losesProxy(snap, d, report)
			continue
		}
		services := services(snap, d)
		unserved(snap, d, services, report)
		if snap.Phase == snapshot.Now {
			aboutToLose(snap, d, report)
		} else if len(which(services, snapshot.Absent)) == 0 {
			losesProxy(snap, d, report)
		}
	}
}

// pipeDrivers are the Windows drivers that reach storage through csi-proxy.
func pipeDrivers(snap *snapshot.Snapshot) []*inventory.Driver {
	return slices.DeleteFunc(snap.WindowsDaemonSets(), func(d *inventory.Driver) bool { return d.Mode() != "csi-proxy" && !dialsAnyway(snap, d) })
}

// dialsAnyway tells whether a HostProcess pod dials csi-proxy all the same: it
// sees the node's pipes without mounting them.
func dialsAnyway(snap *snapshot.Snapshot, d *inventory.Driver) bool {
	line := snap.LineAt(d)
	return d.HostProcess && line != nil && line.HostProcessNeedsProxy
}

// pipeText is which pipes a driver needs.
func pipeText(snap *snapshot.Snapshot, d *inventory.Driver) string {
	if !dialsAnyway(snap, d) {
		return "mounts " + pipeNames(d.Pipes)
	}
	names := snapshot.Map(snap.LineAt(d).API, func(u catalog.APIUse) string { return u.Group })
	return fmt.Sprintf("version %s dials csi-proxy's %s though it is a HostProcess container", d.Version.Version, strings.Join(names, ", "))
}

// services are the csi-proxies of the nodes that d runs on.
func services(snap *snapshot.Snapshot, d *inventory.Driver) []snapshot.CSIProxy {
	if snap.Phase == snapshot.Planned {
		return snapshot.Map(snap.Scope(d), snap.CSIProxyAfter)
	}
	return snapshot.Map(snap.Scope(d), snap.CSIProxyOn)
}

func which(ss []snapshot.CSIProxy, p snapshot.Presence) []snapshot.CSIProxy {
	return snapshot.Select(ss, func(s snapshot.CSIProxy) bool { return s.Is == p })
}

const pipesUnserved = `the driver reaches Windows storage through \\.\pipe\csi-proxy-*; where nobody serves these pipes, its pod doesn't start or can't mount a volume`

// unserved tells of nodes where csi-proxy is absent, and of those where that isn't
// known.
func unserved(snap *snapshot.Snapshot, d *inventory.Driver, services []snapshot.CSIProxy, report rules.Report) {
	for _, is := range []snapshot.Presence{snapshot.Absent, snapshot.PresenceUnknown} {
		for _, ss := range snapshot.GroupBy(which(services, is), func(s snapshot.CSIProxy) string { return cmp.Or(s.Reason, s.By) }) {
			nodes := rules.SomeOf(serviceNodes(ss))
			f := rules.Finding{Severity: finding.Block, Object: d.Object.String(), Expected: "csi-proxy on every node that the DaemonSet runs on", Why: pipesUnserved}
			if f.Same = ss[0].By; is == snapshot.Absent {
				f.Observed = fmt.Sprintf("%s on %s, and %s", pipeText(snap, d), nodes, ss[0].By)
				f.Remedy, f.Do, f.When = getProxy(snap)
			} else {
				f.Severity, f.Same = finding.Unknown, ss[0].Reason
				f.Observed = fmt.Sprintf("%s on %s; whether csi-proxy runs there couldn't be told: %s", pipeText(snap, d), nodes, ss[0].Reason)
				f.Remedy, f.Do, f.When = readProxyLog(ss)
			}
			f.Evidence = rules.Cite(slices.Concat(pipeFacts(snap, d), serviceFacts(ss)))
			report(f)
		}
	}
}

// getProxy says which WMCO brings csi-proxy, and when that can be had: its
// release for the target comes with the target.
func getProxy(snap *snapshot.Snapshot) (advice string, do []action.Action, when string) {
	for _, minor := range []string{snap.FromMinor(), snap.ToMinor()} {
		_, have := snapshot.SplitWMCO(snap.WMCOFor(minor))
		if len(have) == 0 {
			continue
		}
		when = rules.Before
		if minor != snap.FromMinor() {
			when = rules.During // it comes with the control plane
		}
		return "", []action.Action{remedy.WMCOFrom(snap, have[0])}, when
	}
	return "update OpenShift and WMCO to a release whose WMCO ships csi-proxy (`verify catalog` lists them), and deploy this DaemonSet after that", nil, rules.Before
}

// readProxyLog says how to make the csi-proxy of nodes known: by the image of its
// DaemonSet, or by its log.
func readProxyLog(ss []snapshot.CSIProxy) (advice string, do []action.Action, when string) {
	if p := ss[0].Owner; p != nil {
		return fmt.Sprintf("pin the image of %s to a released version, or say which one it is with --image-version %s=vX.Y.Z", p.Object, cmp.Or(p.Image.Digest, p.Image.Reference)), nil, rules.Before
	}
	nodes := serviceNodes(ss)
	return fmt.Sprintf("look for the line \"Version:\" in the log of each node (%s), then check again with a must-gather that holds it (--must-gather). A node without csi-proxy needs one: let WMCO configure it, or run csi-proxy as a HostProcess DaemonSet with a version in its tag", rules.SomeOf(nodes)),
		[]action.Action{action.Gather{Text: "read the log of csi-proxy", Get: []string{"adm", "node-logs", nodes[0], "--path=csi-proxy/csi-proxy.log"}}}, rules.Before
}

// losesProxy warns of a WMCO for the hop's target that has no csi-proxy: the
// enhancement's scenario C, in which volumes stop working (7.2.x to 8.0.x).
func losesProxy(snap *snapshot.Snapshot, d *inventory.Driver, report rules.Report) {
	if snap.FromMinor() == snap.ToMinor() || snap.WithoutNodes() {
		return
	}
	var losing []*inventory.Node
	var lack, have []*catalog.WMCORelease
	for _, n := range snap.Scope(d) {
		if n.WMCO == "" || snap.CSIProxyDaemonSet(n) != nil || snap.Arriving(n) != nil {
			continue
		}
		l, h := snap.WMCOChoices(n)
		if len(l) > 0 {
			losing, lack, have = append(losing, n), l, h
		}
	}
	if len(losing) == 0 {
		return
	}
	f := rules.Finding{Severity: finding.Warn, Object: d.Object.String()}
	if len(have) == 0 {
		f.Severity = finding.Block
	}
	f.Observed = fmt.Sprintf("WMCO %[2]s, for OpenShift %[1]s, ships no csi-proxy; with it %[3]s would run without", snap.ToMinor(), wmcoRanges(lack), rules.SomeOf(snapshot.NodeNames(losing)))
	f.Expected, f.Same = "a WMCO for the target that ships csi-proxy", "WMCO for "+snap.ToMinor()
	f.Why = "WMCO replaces the services of a node that it updates; without csi-proxy the driver's volumes don't work there until a newer WMCO comes (the enhancement's scenario C)"
	f.Remedy, f.Do, f.When = avoidWMCO(snap, snap.ToMinor(), have)
	f.Evidence = rules.Cite(slices.Concat(pipeFacts(snap, d), wmcoFacts(losing)))
	report(f)
}

// avoidWMCO lets no WMCO come that ships no csi-proxy; a mirrored catalog may still
// offer one.
func avoidWMCO(snap *snapshot.Snapshot, minor string, have []*catalog.WMCORelease) (advice string, do []action.Action, when string) {
	if len(have) == 0 {
		return fmt.Sprintf("no WMCO for OpenShift %s ships csi-proxy: use a HostProcess variant of the driver, or a release that has one (`verify catalog`)", minor), nil, rules.During
	}
	return "", []action.Action{remedy.WMCOFrom(snap, have[0])}, rules.During
}

func aboutToLose(snap *snapshot.Snapshot, d *inventory.Driver, report rules.Report) {
	var losing []*inventory.Node
	var to *catalog.WMCORelease
	for _, n := range snap.Scope(d) {
		if r := snap.Arriving(n); r != nil {
			losing, to = append(losing, n), r
		}
	}
	if len(losing) == 0 {
		return
	}
	_, have := snapshot.SplitWMCO(snap.WMCOFor(to.OpenShift))
	f := rules.Finding{Severity: finding.Block, Object: d.Object.String()}
	f.Observed = fmt.Sprintf("the WMCO that is about to configure %s (%s) ships no csi-proxy; the one that did so before does", rules.SomeOf(snapshot.NodeNames(losing)), wmcoRanges([]*catalog.WMCORelease{to}))
	f.Expected, f.Same = "a WMCO that ships csi-proxy", "arriving"
	f.Why = "volumes on these nodes stop working when WMCO reaches them, until a newer WMCO brings csi-proxy back"
	f.Remedy, f.Do, f.When = avoidWMCO(snap, to.OpenShift, have)
	f.Evidence = rules.Cite(slices.Concat(pipeFacts(snap, d), wmcoFacts(losing)))
	report(f)
}

func wmcoRanges(rs []*catalog.WMCORelease) string {
	return strings.Join(snapshot.Map(rs, func(r *catalog.WMCORelease) string {
		if r.Until == "" {
			return "from " + r.From
		}
		return "from " + r.From + " before " + r.Until
	}), ", ")
}

func wmcoFacts(nodes []*inventory.Node) []inventory.Evidence {
	return snapshot.Map(nodes, func(n *inventory.Node) inventory.Evidence {
		return inventory.Evidence{Where: n.At.Where, Text: snapshot.WMCOAnnotation + ": " + n.WMCO}
	})
}

func pipeFacts(snap *snapshot.Snapshot, d *inventory.Driver) []inventory.Evidence {
	if dialsAnyway(snap, d) {
		return []inventory.Evidence{d.Version.At}
	}
	return snapshot.Map(d.Pipes[:min(2, len(d.Pipes))], func(p inventory.Pipe) inventory.Evidence { return p.At })
}

func pipeNames(pipes []inventory.Pipe) string {
	names := snapshot.Map(pipes, inventory.Pipe.Name)
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
