package proxy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// proxyAbsent is PROXY001: a driver that mounts csi-proxy's pipes on nodes
// where nobody serves them, now or once WMCO was updated.
func proxyAbsent(v *snapshot.View, report rules.Report) {
	if v.DaemonSet.Mode() != "csi-proxy" && !dialsAnyway(v) {
		return
	}
	if v.At.Phase == snapshot.Target {
		// What runs on the nodes hasn't changed since Now, what comes has.
		losesProxy(v, report)
		return
	}
	services := services(v)
	unserved(v, services, report)
	if v.At.Phase == snapshot.Now {
		aboutToLose(v, report)
	} else if len(which(services, snapshot.Absent)) == 0 {
		losesProxy(v, report)
	}
}

func pipeText(v *snapshot.View) string {
	if !dialsAnyway(v) {
		return "mounts " + pipeNames(v.DaemonSet.Pipes)
	}
	names := snapshot.Map(v.Line.API, func(u catalog.APIUse) string { return u.Group })
	return fmt.Sprintf("version %s dials csi-proxy's %s though it is a HostProcess container", v.DaemonSet.Version.Version, strings.Join(names, ", "))
}

// seenAlone tells of a node that no operator and no DaemonSet brings csi-proxy to, and
// where it is seen at work.
func seenAlone(s snapshot.CSIProxy) bool {
	return s.Is == snapshot.Present && s.Node.WMCO == "" && s.Owner == nil
}

func which(ss []snapshot.CSIProxy, p snapshot.Presence) []snapshot.CSIProxy {
	return snapshot.Select(ss, func(s snapshot.CSIProxy) bool { return s.Is == p })
}

// unserved tells of nodes where csi-proxy is absent, and of those where that isn't
// known.
func unserved(v *snapshot.View, services []snapshot.CSIProxy, report rules.Report) {
	for _, is := range []snapshot.Presence{snapshot.Absent, snapshot.PresenceUnknown} {
		for _, ss := range snapshot.GroupBy(which(services, is), func(s snapshot.CSIProxy) string { return cmp.Or(s.Reason, s.By) }) {
			f := rules.Finding{
				Case: "unserved", Facts: rules.Facts{"nodes": nodesOf(ss), "pipes": pipeText(v), "proxy": &ss[0]}, Same: ss[0].By,
				Evidence: rules.Cite(slices.Concat(pipeEvidence(v), serviceEvidence(ss))),
			}
			if is == snapshot.Absent {
				f.Do, f.When = getProxy(v.At)
			} else {
				f.Case, f.Same = "maybe unserved", ss[0].Reason
				if _, unused := v.At.Using(v.DaemonSet.Provisioner, true, nodesOf(ss)); len(unused) == len(ss) && slices.ContainsFunc(services, seenAlone) {
					f.Severity = finding.Info // no pod needs it there
				}
				f.Remedy, f.Do = readProxyLog(ss, v.At.Inventory.Cluster.Other != "")
			}
			report(f)
		}
	}
}

// getProxy says which WMCO brings csi-proxy, and when that can be had: its
// release for the target comes with the target.
func getProxy(snap *snapshot.Snapshot) (do []action.Action, when string) {
	for _, minor := range []string{snap.FromMinor(), snap.ToMinor()} {
		have := snap.WMCOWithCSIProxy(minor)
		if len(have) == 0 {
			continue
		}
		if when = rules.Before; minor != snap.FromMinor() {
			when = rules.During // it comes with the control plane
		}
		return []action.Action{remedy.WMCOFrom(snap, have[0])}, when
	}
	return lookUp("update OpenShift and WMCO to a release whose WMCO ships csi-proxy, and deploy this DaemonSet after that"), rules.Before
}

func lookUp(text string) []action.Action {
	return []action.Action{action.ByHand{Text: text, Look: [][]string{{"verify", "catalog"}}}}
}

// readProxyLog says how to make the csi-proxy of nodes known: by the image of its
// DaemonSet, or by its log.
func readProxyLog(ss []snapshot.CSIProxy, elsewhere bool) (advice string, do []action.Action) {
	if p := ss[0].Owner; p != nil {
		return fmt.Sprintf("pin the image of %s to a released version, or say which one it is with --image-version %s=vX.Y.Z", p.Object, cmp.Or(p.Image.Digest, p.Image.Reference)), nil
	}
	nodes := serviceNodes(ss)
	if elsewhere { // only OpenShift's oc has node-logs
		return fmt.Sprintf("look on each node (%s) whether the service csi-proxy runs; without it, run csi-proxy as a HostProcess DaemonSet with a version in its tag", rules.SomeOf(nodes)),
			[]action.Action{action.ByHand{
				First: true, Text: "look on " + rules.SomeOf(nodes) + " whether the service csi-proxy runs; its log may be among the kubelet's",
				Look: [][]string{{"kubectl", "get", "--raw", "/api/v1/nodes/" + nodes[0] + "/proxy/logs/"}},
			}}
	}
	return fmt.Sprintf("look for the line \"Version:\" in the log of each node (%s), then check again with a must-gather that holds it (--must-gather). A node without csi-proxy needs one: let WMCO configure it, or run csi-proxy as a HostProcess DaemonSet with a version in its tag", rules.SomeOf(nodes)),
		[]action.Action{action.Gather{Text: "read the log of csi-proxy", Get: []string{"adm", "node-logs", nodes[0], "--path=csi-proxy/csi-proxy.log"}}}
}

// losesProxy warns of a WMCO for the hop's target that has no csi-proxy: the
// enhancement's scenario C, in which volumes stop working (7.2.x to 8.0.x).
func losesProxy(v *snapshot.View, report rules.Report) {
	snap := v.At
	if snap.FromMinor() == snap.ToMinor() || snap.WithoutNodes() {
		return
	}
	var losing []*inventory.Node
	var lack, have []catalog.WMCORelease
	for _, n := range v.Nodes {
		if n.WMCO == "" || snap.CSIProxyDaemonSet(n) != nil || snap.Arriving(n) != nil {
			continue
		}
		if l, h := snap.WMCOChoices(n); len(l) > 0 {
			losing, lack, have = append(losing, n), l, h
		}
	}
	if len(losing) == 0 {
		return
	}
	f := withoutProxy(v, losing, snap.ToMinor(), have)
	f.Case, f.Facts["ranges"], f.Same = "WMCO without it", wmcoRanges(lack), "WMCO for "+snap.ToMinor()
	if len(have) > 0 {
		f.Severity = finding.Warn
	}
	report(f)
}

// withoutProxy is of nodes that a WMCO for minor takes csi-proxy from. None that ships
// none is to come, which a mirrored catalog may still offer.
func withoutProxy(v *snapshot.View, losing []*inventory.Node, minor string, have []catalog.WMCORelease) rules.Finding {
	f := rules.Finding{Facts: rules.Facts{"nodes": losing}}
	f.Do = lookUp(fmt.Sprintf("no WMCO for OpenShift %s ships csi-proxy: use a HostProcess variant of the driver, or a release that has one", minor))
	f.Evidence = rules.Cite(slices.Concat(pipeEvidence(v), snapshot.Map(losing, func(n *inventory.Node) inventory.Evidence {
		return inventory.Evidence{Where: n.At.Where, Text: snapshot.WMCOAnnotation + ": " + n.WMCO}
	})))
	if len(have) > 0 {
		f.Do = []action.Action{remedy.WMCOFrom(v.At, have[0])}
	}
	return f
}

func aboutToLose(v *snapshot.View, report rules.Report) {
	snap := v.At
	var losing []*inventory.Node
	var to *catalog.WMCORelease
	for _, n := range v.Nodes {
		if r := snap.Arriving(n); r != nil {
			losing, to = append(losing, n), r
		}
	}
	if len(losing) == 0 {
		return
	}
	f := withoutProxy(v, losing, to.OpenShift, snap.WMCOWithCSIProxy(to.OpenShift))
	f.Case, f.Facts["ranges"] = "WMCO without it arrives", wmcoRanges([]catalog.WMCORelease{*to})
	report(f)
}

func wmcoRanges(rs []catalog.WMCORelease) string {
	return strings.Join(snapshot.Map(rs, func(r catalog.WMCORelease) string {
		if r.Until == "" {
			return "from " + r.From
		}
		return "from " + r.From + " before " + r.Until
	}), ", ")
}

var proxy001 = rules.Rule{ID: "PROXY001", Needs: rules.NeedsScope, Driver: proxyAbsent}
