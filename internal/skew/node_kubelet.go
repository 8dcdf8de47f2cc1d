package skew

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// kubeletSkew is NODE001.
func kubeletSkew(w *world, out *sink) {
	if len(w.inv.Nodes) == 0 || w.Phase == Planned {
		return
	}
	server, at, ok := w.apiServer()
	if !ok {
		if !w.Release().IsZero() || w.Hops == 0 {
			out.add(unknownServer(w))
		}
		return
	}
	for _, text := range w.kubelets() {
		nodes := w.nodesWith(func(n *inventory.Node) bool { return n.Kubelet == text })
		kubelet, err := version.ParseKubernetes(text)
		if err != nil {
			out.add(draft{
				Severity: finding.Unknown, Object: "kubelet " + cmp.Or(text, "unknown"),
				Observed: fmt.Sprintf("%q on %s", text, few(namesOf(nodes))), Expected: "a version such as v1.32.9",
				Why:  "whether the kubelet fits the API server can't be told",
				Do:   []action.Action{action.Gather{Text: "look at the node", Get: []string{"get", "node", nodes[0].Name, "-o", "jsonpath={.status.nodeInfo.kubeletVersion}"}}},
				When: before, Evidence: evidenceOf(nodes),
			})
			continue
		}
		w.compareKubelet(out, kubelet, server, nodes, at)
	}
}

// compareKubelet judges the nodes that run one version.
func (w *world) compareKubelet(out *sink, kubelet, server version.Kubernetes, nodes []*inventory.Node, at inventory.Evidence) {
	lag := int(server.Minor) - int(kubelet.Minor)
	allowed, rule := w.allowedLag(kubelet, server)
	if kubelet.Major == server.Major && lag >= 0 && lag <= allowed {
		return
	}
	d := draft{
		Severity: finding.Block, Object: "kubelet " + nodes[0].Kubelet,
		Observed: fmt.Sprintf("kubelet %s on %s, API server %s", kubelet, few(namesOf(nodes)), server.MinorString()),
		Expected: fmt.Sprintf("a kubelet at most %s older than the API server", many(allowed, "minor")),
		Why:      rule,
		Do:       w.updateWMCO(w.from()),
		When:     before, Evidence: append(evidenceOf(nodes), at),
	}
	switch {
	case lag < 0:
		d.Observed += ": the kubelet is newer"
		d.Why = "a kubelet must never be newer than the API server"
		d.Do, d.Remedy = nil, "finish the update of the control plane first, or replace the nodes by ones of the right version"
	case w.Hop > 0:
		// By then WMCO has followed; if it hasn't, the cluster refuses the hop.
		d.Severity = finding.Info
		d.Why = "the kubelets must have followed by then, which they do when WMCO is updated after each hop"
	}
	switch behind := w.leftBehind(nodes); {
	case lag < 0:
	case w.operatorBehind(nodes):
		d.NoStep = true // NODE002 asks for the same
	case len(behind) == len(nodes):
		d.Do = lookAtNodes(behind)
	}
	out.add(d)
}

// allowedLag is how many minors a kubelet may be older, and whose rule that is.
// In the middle of an update the API server may be of the next release already:
// its rule holds. One that is of neither isn't that OpenShift's API server.
func (w *world) allowedLag(kubelet, server version.Kubernetes) (int, string) {
	r := w.CatalogRelease()
	if r != nil && r.Kubernetes != server.MinorString() {
		r = w.nextWith(r, server)
	}
	if r != nil && r.KubeletSkew > 0 {
		return r.KubeletSkew, fmt.Sprintf("OpenShift %s allows a kubelet to lag %s behind the API server", r.OpenShift, many(r.KubeletSkew, "minor"))
	}
	if kubelet.Minor < 25 {
		return 2, "Kubernetes allows a kubelet before 1.25 to lag 2 minors behind the API server"
	}
	return 3, "Kubernetes allows a kubelet to lag 3 minors behind the API server"
}

// nextWith is the release after r that has the API server; nil where none has.
func (w *world) nextWith(r *catalog.Release, server version.Kubernetes) *catalog.Release {
	for i := range w.cat.Releases {
		if next := &w.cat.Releases[i]; slices.Contains(r.Next, next.OpenShift) && next.Kubernetes == server.MinorString() {
			return next
		}
	}
	return nil
}

// apiServer is the version of the API server in this phase.
func (w *world) apiServer() (version.Kubernetes, inventory.Evidence, bool) {
	text, at := "", inventory.Evidence{}
	if w.Phase == Now && w.Hop == 0 {
		text, at = w.inv.Cluster.Kubernetes, inventory.Evidence{Where: "the API server", Text: w.inv.Cluster.Kubernetes}
	}
	if text == "" && !w.Release().IsZero() {
		if p := w.payload(w.Release()); p != nil {
			text, at = p.Kubernetes, inventory.Evidence{Where: p.At.Where, Text: p.Kubernetes}
		}
	}
	if r := w.CatalogRelease(); text == "" && r != nil {
		text, at = r.Kubernetes, inventory.Evidence{Where: "catalog, OpenShift " + r.OpenShift, Text: "Kubernetes " + r.Kubernetes}
	}
	k, err := version.ParseKubernetes(text)
	return k, at, err == nil
}

func unknownServer(w *world) draft {
	return draft{
		Severity: finding.Unknown, Object: "API server",
		Observed: "which Kubernetes " + releaseText(w.Release(), "the cluster") + " runs isn't known",
		Expected: "a release that the catalog knows, or its payload",
		Why:      "whether the Windows kubelets fit it can't be told",
		Remedy:   "name the cluster's release with --from, and give the target's payload with --release",
		When:     before, Evidence: []inventory.Evidence{{Where: "catalog of " + w.cat.AsOf}}, NoStep: true,
	}
}

// kubelets are the versions that run, each once, in the order of the nodes.
func (x *index) kubelets() []string {
	return memo(x, "kubelets", func() []string {
		var list []string
		seen := map[string]bool{}
		for i := range x.inv.Nodes {
			if k := x.inv.Nodes[i].Kubelet; !seen[k] {
				seen[k] = true
				list = append(list, k)
			}
		}
		return list
	})
}

func (x *index) nodesWith(test func(*inventory.Node) bool) []*inventory.Node {
	var list []*inventory.Node
	for i := range x.inv.Nodes {
		if n := &x.inv.Nodes[i]; test(n) {
			list = append(list, n)
		}
	}
	return list
}

func namesOf(nodes []*inventory.Node) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = n.Name
	}
	return names
}

// evidenceOf is where the first few nodes were read: five hundred alike prove
// no more.
func evidenceOf(nodes []*inventory.Node) []inventory.Evidence {
	var list []inventory.Evidence
	for _, n := range nodes[:min(3, len(nodes))] {
		list = append(list, n.At)
	}
	return list
}
