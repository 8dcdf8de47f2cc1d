package skew

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// Where the rules on csi-proxy have their grounds.
const (
	csiProxyEnhancement = "https://github.com/openshift/enhancements/blob/master/enhancements/windows-containers/csi-proxy.md"
	kep1122             = "https://github.com/kubernetes/enhancements/blob/master/keps/sig-windows/1122-windows-csi-support/README.md"
	wmicFails           = "kubernetes-csi/csi-proxy@v1.1.3:pkg/os/system/api.go"
	twoProxies          = "https://github.com/kubernetes-csi/csi-proxy/issues/80"
	cve20233893         = "https://nvd.nist.gov/vuln/detail/CVE-2023-3893, https://github.com/advisories/GHSA-r6cc-7wj7-gfx2"
)

// proxyAbsent is PROXY001: a driver that mounts csi-proxy's pipes on nodes
// where nobody serves them, now or once WMCO was updated.
func proxyAbsent(w *world) []draft {
	var said []draft
	for _, d := range w.pipeDrivers() {
		if w.Phase == Target {
			// What runs on the nodes hasn't changed since Now, what comes has.
			said = append(said, w.losesProxy(d)...)
			continue
		}
		services := w.services(d)
		said = append(said, w.lacksProxy(d, services)...)
		said = append(said, w.maybeProxy(d, services)...)
		if w.Phase == Now {
			said = append(said, w.aboutToLose(d)...)
		} else if len(which(services, absent)) == 0 {
			said = append(said, w.losesProxy(d)...)
		}
	}
	return said
}

// pipeDrivers are the Windows drivers that reach storage through csi-proxy.
func (w *world) pipeDrivers() []*inventory.Driver {
	return slices.DeleteFunc(w.windows(), func(d *inventory.Driver) bool { return d.Mode() != "csi-proxy" && !w.dialsAnyway(d) })
}

// dialsAnyway tells whether a HostProcess pod dials csi-proxy all the same: it
// sees the node's pipes without mounting them.
func (w *world) dialsAnyway(d *inventory.Driver) bool {
	line := w.lineAt(d)
	return d.HostProcess && line != nil && line.HostProcessNeedsProxy
}

// pipeText is which pipes a driver needs.
func (w *world) pipeText(d *inventory.Driver) string {
	if !w.dialsAnyway(d) {
		return "mounts " + pipeNames(d.Pipes)
	}
	var names []string
	for _, use := range w.lineAt(d).API {
		names = append(names, use.Group)
	}
	return fmt.Sprintf("version %s dials csi-proxy's %s though it is a HostProcess container", d.Version.Version, strings.Join(names, ", "))
}

// services are the csi-proxies of the nodes that d runs on.
func (w *world) services(d *inventory.Driver) []proxyService {
	var ss []proxyService
	for _, n := range w.Scope(d) {
		if w.Phase == Planned {
			ss = append(ss, w.serviceAfter(n))
		} else {
			ss = append(ss, w.serviceOn(n))
		}
	}
	return ss
}

func which(ss []proxyService, p presence) []proxyService {
	var out []proxyService
	for _, s := range ss {
		if s.is == p {
			out = append(out, s)
		}
	}
	return out
}

const pipesUnserved = `the driver reaches Windows storage through \\.\pipe\csi-proxy-*; where nobody serves these pipes, its pod doesn't start or can't mount a volume`

func (w *world) lacksProxy(d *inventory.Driver, services []proxyService) []draft {
	var said []draft
	for _, ss := range groups(which(services, absent), func(s proxyService) string { return s.by }) {
		f := draft{Severity: finding.Block, Object: d.Object.String()}
		f.Observed = fmt.Sprintf("%s on %s, and %s", w.pipeText(d), someOf(serviceNodes(ss)), ss[0].by)
		f.Expected, f.Same = "csi-proxy on every node that the DaemonSet runs on", ss[0].by
		f.Why = pipesUnserved
		f.Remedy, f.Do, f.When = w.getProxy()
		f.Evidence = cite(slices.Concat(w.pipeFacts(d), serviceFacts(ss)))
		said = append(said, f)
	}
	return said
}

// getProxy says which WMCO brings csi-proxy, and when that can be had: its
// release for the target comes with the target.
func (w *world) getProxy() (remedy string, do []action.Action, when string) {
	for _, minor := range []string{w.from(), w.to()} {
		_, have := splitWMCO(w.wmcoFor(minor))
		if len(have) == 0 {
			continue
		}
		when = before
		if minor != w.from() {
			when = during // it comes with the control plane
		}
		return "", []action.Action{w.wmcoFrom(have[0])}, when
	}
	return "update OpenShift and WMCO to a release whose WMCO ships csi-proxy (`verify catalog` lists them), and deploy this DaemonSet after that", nil, before
}

// wmcoFrom brings WMCO to a release or a newer one of its minor.
func (w *world) wmcoFrom(r *catalog.WMCORelease) action.UpdateWMCO {
	up := action.UpdateWMCO{OpenShift: r.OpenShift, WMCO: r.From, AtLeast: true}
	if k := w.cat.Release(r.OpenShift); k != nil {
		up.Kubernetes = k.Kubernetes
	}
	return up
}

func (w *world) maybeProxy(d *inventory.Driver, services []proxyService) []draft {
	var said []draft
	for _, ss := range groups(which(services, presenceUnknown), func(s proxyService) string { return s.reason }) {
		names := serviceNodes(ss)
		f := draft{Severity: finding.Unknown, Object: d.Object.String()}
		f.Observed = fmt.Sprintf("%s on %s; whether csi-proxy runs there couldn't be told: %s", w.pipeText(d), someOf(names), ss[0].reason)
		f.Expected, f.Same = "csi-proxy on every node that the DaemonSet runs on", ss[0].reason
		f.Why = pipesUnserved
		f.Remedy, f.Do, f.When = readProxyLog(ss)
		f.Evidence = cite(slices.Concat(w.pipeFacts(d), serviceFacts(ss)))
		said = append(said, f)
	}
	return said
}

// readProxyLog says how to make the csi-proxy of nodes known: by the image of its
// DaemonSet, or by its log.
func readProxyLog(ss []proxyService) (remedy string, do []action.Action, when string) {
	if p := ss[0].owner; p != nil {
		return fmt.Sprintf("pin the image of %s to a released version, or say which one it is with --image-version %s=vX.Y.Z", p.Object, cmp.Or(p.Image.Digest, p.Image.Reference)), nil, before
	}
	nodes := serviceNodes(ss)
	return fmt.Sprintf("look for the line \"Version:\" in the log of each node (%s), then check again with a must-gather that holds it (--must-gather). A node without csi-proxy needs one: let WMCO configure it, or run csi-proxy as a HostProcess DaemonSet with a version in its tag", someOf(nodes)),
		[]action.Action{action.Gather{Text: "read the log of csi-proxy", Get: []string{"adm", "node-logs", nodes[0], "--path=csi-proxy/csi-proxy.log"}}}, before
}

// losesProxy warns of a WMCO for the hop's target that has no csi-proxy: the
// enhancement's scenario C, in which volumes stop working (7.2.x to 8.0.x).
func (w *world) losesProxy(d *inventory.Driver) []draft {
	if w.from() == w.to() {
		return nil
	}
	var losing []*inventory.Node
	var lack, have []*catalog.WMCORelease
	for _, n := range w.Scope(d) {
		if n.WMCO == "" || w.proxyOf(n) != nil || w.arriving(n) != nil {
			continue
		}
		l, h := w.wmcoChoices(n)
		if len(l) > 0 {
			losing, lack, have = append(losing, n), l, h
		}
	}
	if len(losing) == 0 {
		return nil
	}
	f := draft{Severity: finding.Warn, Object: d.Object.String()}
	if len(have) == 0 {
		f.Severity = finding.Block
	}
	f.Observed = fmt.Sprintf("WMCO %[2]s, for OpenShift %[1]s, ships no csi-proxy; with it %[3]s would run without", w.to(), wmcoRanges(lack), someOf(nodeNames(losing)))
	f.Expected, f.Same = "a WMCO for the target that ships csi-proxy", "WMCO for "+w.to()
	f.Why = "WMCO replaces the services of a node that it updates; without csi-proxy the driver's volumes don't work there until a newer WMCO comes (the enhancement's scenario C)"
	f.Remedy, f.Do, f.When = w.avoidWMCO(w.to(), have)
	f.Evidence = cite(slices.Concat(w.pipeFacts(d), wmcoFacts(losing)))
	return []draft{f}
}

// avoidWMCO lets no WMCO come that ships no csi-proxy; a mirrored catalog may still
// offer one.
func (w *world) avoidWMCO(minor string, have []*catalog.WMCORelease) (remedy string, do []action.Action, when string) {
	if len(have) == 0 {
		return fmt.Sprintf("no WMCO for OpenShift %s ships csi-proxy: use a HostProcess variant of the driver, or a release that has one (`verify catalog`)", minor), nil, during
	}
	return "", []action.Action{w.wmcoFrom(have[0])}, during
}

// arriving is the WMCO that is about to configure n, where that one ships no
// csi-proxy; nil otherwise.
func (w *world) arriving(n *inventory.Node) *catalog.WMCORelease {
	if w.serviceOn(n).is != present || w.proxyOf(n) != nil {
		return nil
	}
	for _, next := range []string{n.DesiredWMCO, w.inv.Cluster.WMCO} {
		if r := w.wmcoRow(next); r != nil && newerWMCO(next, n.WMCO) && r.CSIProxy == "" {
			return r
		}
	}
	return nil
}

func newerWMCO(a, b string) bool {
	av, errA := version.ParseWMCO(a)
	bv, errB := version.ParseWMCO(b)
	return errA == nil && errB == nil && av.Compare(bv) > 0
}

func (w *world) aboutToLose(d *inventory.Driver) []draft {
	var losing []*inventory.Node
	var to *catalog.WMCORelease
	for _, n := range w.Scope(d) {
		if r := w.arriving(n); r != nil {
			losing, to = append(losing, n), r
		}
	}
	if len(losing) == 0 {
		return nil
	}
	_, have := splitWMCO(w.wmcoFor(to.OpenShift))
	f := draft{Severity: finding.Block, Object: d.Object.String()}
	f.Observed = fmt.Sprintf("the WMCO that is about to configure %s (%s) ships no csi-proxy; the one that did so before does", someOf(nodeNames(losing)), wmcoRanges([]*catalog.WMCORelease{to}))
	f.Expected, f.Same = "a WMCO that ships csi-proxy", "arriving"
	f.Why = "volumes on these nodes stop working when WMCO reaches them, until a newer WMCO brings csi-proxy back"
	f.Remedy, f.Do, f.When = w.avoidWMCO(to.OpenShift, have)
	f.Evidence = cite(slices.Concat(w.pipeFacts(d), wmcoFacts(losing)))
	return []draft{f}
}

func wmcoRanges(rs []*catalog.WMCORelease) string {
	var texts []string
	for _, r := range rs {
		if r.Until == "" {
			texts = append(texts, "from "+r.From)
		} else {
			texts = append(texts, "from "+r.From+" before "+r.Until)
		}
	}
	return strings.Join(texts, ", ")
}

func wmcoFacts(nodes []*inventory.Node) []inventory.Evidence {
	var at []inventory.Evidence
	for _, n := range nodes {
		at = append(at, inventory.Evidence{Where: n.At.Where, Text: wmcoVersion + ": " + n.WMCO})
	}
	return at
}

func (w *world) pipeFacts(d *inventory.Driver) []inventory.Evidence {
	if w.dialsAnyway(d) {
		return []inventory.Evidence{d.Version.At}
	}
	var at []inventory.Evidence
	for _, p := range d.Pipes {
		at = append(at, p.At)
	}
	return at[:min(2, len(at))]
}

func pipeNames(pipes []inventory.Pipe) string {
	var names []string
	for _, p := range pipes {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
