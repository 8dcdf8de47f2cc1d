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
		twoOwners(snap, p, both, finding.Warn, report)
		twoOwners(snap, p, unsure, finding.Unknown, report)
	}
}

func twoOwners(snap *snapshot.Snapshot, p *inventory.Proxy, ss []snapshot.CSIProxy, sev finding.Severity, report rules.Report) {
	if len(ss) == 0 {
		return
	}
	nodes := rules.SomeOf(serviceNodes(ss))
	f := rules.Finding{Severity: sev, Object: p.Object.String(), When: rules.Before}
	f.Observed = fmt.Sprintf("runs csi-proxy on %s, where WMCO runs it as a service", nodes)
	if snap.Phase == snapshot.Target {
		f.Observed = fmt.Sprintf("runs csi-proxy on %s, where WMCO for OpenShift %s will run it as a service", nodes, snap.ToMinor())
	}
	if sev == finding.Unknown {
		f.Observed = fmt.Sprintf("runs csi-proxy on %s; whether WMCO does too isn't known: the catalog doesn't know WMCO %s", nodes, ss[0].Node.WMCO)
	}
	f.Expected, f.Same = "one csi-proxy a node", string(snap.Phase)
	f.Why = "a pipe has one owner: the second csi-proxy can't listen and stops with a panic, and which of the two serves depends on who started first"
	f.Do = []action.Action{action.DeleteDaemonSet{Object: p.Object, Why: "WMCO runs csi-proxy as a service on its nodes", Without: "until WMCO's service has the pipes, volumes can't be mounted through them; mounted ones stay"}}
	if others := onlyProxyOf(snap, p, ss); len(others) > 0 {
		f.Do, f.Remedy = nil, fmt.Sprintf("keep %s off %s, and on %s: give the nodes that WMCO doesn't configure a label (csi-proxy=daemonset), and the DaemonSet a node selector for it", p.Object, nodes, rules.SomeOf(others))
	}
	if sev == finding.Unknown {
		f.Remedy = fmt.Sprintf("see whether csi-proxy is among WMCO's services, and delete %s only if it is", p.Object)
		f.Do = []action.Action{action.Gather{Text: f.Remedy, Get: []string{"-n", "openshift-windows-machine-config-operator", "get", "configmap", "windows-services-" + ss[0].Node.WMCO, "-o", "jsonpath={.data.services}"}}}
	}
	f.Evidence = rules.Cite(slices.Concat([]inventory.Evidence{p.At}, serviceFacts(ss)))
	report(f)
}

// onlyProxyOf are the nodes on which a DaemonSet's csi-proxy is the only one:
// those of its nodes that aren't among ss.
func onlyProxyOf(snap *snapshot.Snapshot, p *inventory.Proxy, ss []snapshot.CSIProxy) []string {
	return snapshot.NodeNames(snapshot.Select(snap.Nodes, func(n *inventory.Node) bool {
		return p.Scheduling.Matches(*n) && !slices.Contains(nodesOf(ss), n)
	}))
}

// proxyVulnerable is PROXY007: a csi-proxy with a known vulnerability.
func proxyVulnerable(snap *snapshot.Snapshot, report rules.Report) {
	bad := snapshot.Select(snapshot.Map(snap.Nodes, snap.CSIProxyOn), func(s snapshot.CSIProxy) bool {
		r := proxyRelease(snap, s)
		return r != nil && len(r.CVEs) > 0
	})
	for _, ss := range snapshot.GroupBy(bad, func(s snapshot.CSIProxy) string { return s.Version.String() + s.By }) {
		f := rules.Finding{Severity: finding.Warn, Object: "csi-proxy " + ss[0].Version.String()}
		f.Observed = fmt.Sprintf("%s on %s: %s", proxyText(ss), rules.SomeOf(serviceNodes(ss)), strings.Join(proxyRelease(snap, ss[0]).CVEs, ", "))
		f.Expected = "csi-proxy " + firstSafe(snap) + " or newer"
		f.Same = ss[0].By
		f.Why = "a user who may create a pod that mounts the pipes can become administrator of the node"
		f.Do, f.When = raiseProxy(snap, firstSafe(snap), ss), rules.Before
		f.Evidence = rules.Cite(serviceFacts(ss))
		report(f)
	}
}

// firstSafe is the oldest csi-proxy since which none has a known vulnerability.
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
	d := v.DaemonSet
	groups := snapshot.Map(missing, func(u catalog.APIUse) string { return u.Group })
	mounts := snapshot.Map(missing, func(u catalog.APIUse) string { return fmt.Sprintf(`\\.\pipe\csi-proxy-%s-%s`, u.Group, u.Versions[0]) })
	f := aboutPipes(v, finding.Block)
	f.Observed = fmt.Sprintf("version %s dials csi-proxy's %s; mounted: %s", d.Version.Version, strings.Join(groups, ", "), cmp.Or(pipeNames(d.Pipes), "no pipe"))
	f.Why = "the driver connects to each group's pipe when it starts or mounts; one that isn't mounted into the pod isn't there for it"
	f.Remedy = fmt.Sprintf("in %s give container %s, for each of %s, a volume with that hostPath (no type) and a volumeMount with the same mountPath", d.Object, cmp.Or(d.Container, "of the driver"), strings.Join(mounts, ", "))
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
	f := aboutPipes(v, finding.Unknown)
	f.NoStep = true // SKEW005's step does it
	f.Observed = fmt.Sprintf("mounts %s; which pipes it dials depends on its version, which isn't known: %s", cmp.Or(pipeNames(d.Pipes), "no pipe"), cmp.Or(d.Version.Reason, "no version seen"))
	f.Why = "older lines of this driver dial other versions of the pipes"
	f.Remedy = fmt.Sprintf("name a version in the image of %s, or tell the one behind it: --image-version '%s=vX.Y.Z'", d.Object, d.Image.Reference)
	report(f)
}

func aboutPipes(v *snapshot.View, severity finding.Severity) rules.Finding {
	return rules.Finding{
		Severity: severity, Expected: "a pipe of each group that the driver dials", When: rules.Before,
		Source: lineSource(v), Evidence: rules.Cite(slices.Concat(pipeFacts(v), []inventory.Evidence{v.DaemonSet.Version.At})),
	}
}

// lineSource is where the catalog has a driver's API groups from.
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
