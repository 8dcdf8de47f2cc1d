package skew

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// notRead is DATA002.
func notRead(w *world, out *sink) {
	if w.Hop > 0 || w.Phase != Now {
		return
	}
	for _, r := range resourceOrder {
		w.unreadResource(out, r)
	}
	for _, p := range w.inv.Problems {
		d := draft{
			Severity: finding.Unknown, Object: p.Where, Same: p.What,
			Observed: p.What, Expected: "an input that can be read",
			Why:    "what stands there wasn't looked at",
			Remedy: p.Fix, When: before, NoStep: true,
			Evidence: []inventory.Evidence{{Where: p.Where, Text: p.What}},
		}
		if d.Remedy == "" {
			d.Remedy = "mend it, or leave it out of what is read"
		}
		out.add(d)
	}
	w.noDriver(out)
	w.unseen(out)
}

// unseen tells of drivers that Windows nodes have registered and whose DaemonSet
// wasn't read: its version may be any.
func (w *world) unseen(out *sink) {
	on := map[string][]*inventory.Node{}
	for _, n := range w.windowsNodes() {
		c := w.CSINode(n.Name)
		if c == nil {
			continue
		}
		for _, p := range c.Drivers {
			if p != "" && !w.served(p, n) {
				on[p] = append(on[p], n)
			}
		}
	}
	if told := !w.covered(inventory.DaemonSets); told {
		return
	}
	for _, p := range slices.Sorted(maps.Keys(on)) {
		out.add(draft{
			Severity: finding.Unknown, Object: p,
			Observed: fmt.Sprintf("registered on %s, and the Windows DaemonSet that runs it there wasn't read", few(namesOf(on[p]))),
			Expected: "the DaemonSet of every driver that Windows nodes have",
			Why:      "its version may be any",
			Remedy:   w.howToRead(inventory.DaemonSets), When: before, NoStep: true, Evidence: cite(w.csiNodeFacts(on[p])),
		})
	}
}

// unreadResource tells of a kind of object that rules need.
func (w *world) unreadResource(out *sink, r inventory.Resource) {
	cov := w.inv.Read[r]
	if cov.Complete || w.req.Static && !w.covered(r) || len(w.inv.Problems) > 0 && onlyProblems.MatchString(cov.Reason) {
		return // the last is what each input's own finding says
	}
	needed := w.needed[r]
	if len(needed) == 0 {
		return
	}
	d := draft{
		Severity: finding.Unknown, Object: titles[r],
		Observed: w.missingOne(r), Expected: "all " + titles[r],
		Why:    fmt.Sprintf("%s couldn't be evaluated", few(needed)),
		Remedy: w.howToRead(r), When: before, NoStep: true, Evidence: w.sources(),
	}
	if cov.Count > 0 {
		d.Observed = fmt.Sprintf("%d %s read, and maybe not all: %s", cov.Count, map[bool]string{true: "was", false: "were"}[cov.Count == 1], w.missingOne(r))
		d.Why = fmt.Sprintf("%s saw only a part", few(needed))
	}
	out.add(d)
}

// onlyProblems is a reason that names nothing but inputs that couldn't be read.
var onlyProblems = regexp.MustCompile(`^[0-9]+ inputs? couldn't be read$`)

// apiNames are what oc takes for a resource.
var apiNames = map[inventory.Resource]string{
	inventory.DaemonSets: "daemonsets.apps", inventory.Nodes: "nodes", inventory.CSINodes: "csinodes.storage.k8s.io",
	inventory.Pods: "pods", inventory.Volumes: "persistentvolumes", inventory.Claims: "persistentvolumeclaims",
	inventory.ClusterVersion: "clusterversions.config.openshift.io", inventory.Services: "configmaps",
}

// howToRead is how a resource gets into what is read, for the input in use.
func (w *world) howToRead(r inventory.Resource) string {
	name := apiNames[r]
	switch {
	case w.readFrom("cluster"):
		return fmt.Sprintf("grant get and list, then run it again; whether it is granted tells\noc auth can-i list %s --all-namespaces", name)
	case w.readFrom("must-gather"):
		return fmt.Sprintf("gather it too, into the must-gather's folder, and run it again:\noc adm inspect %s --all-namespaces --dest-dir=%s --overwrite", name, w.mustGather())
	}
	return fmt.Sprintf("add it to --manifests:\noc get %s -A -o yaml > %s.yaml\nor say with --static that there is no cluster behind the manifests", name, r)
}

// mustGather is the folder that a must-gather was read from; an archive must be
// unpacked first.
func (x *index) mustGather() string {
	for _, s := range x.inv.Sources {
		if s.Kind == "must-gather" && s.Name != "" && !strings.ContainsAny(s.Name, " '\"") && !strings.HasSuffix(s.Name, "gz") && !strings.HasSuffix(s.Name, ".tar") {
			return s.Name
		}
	}
	return "FOLDER"
}

// readFrom tells whether any input is of a kind.
func (x *index) readFrom(kind string) bool {
	return slices.ContainsFunc(x.inv.Sources, func(s inventory.Source) bool { return s.Kind == kind })
}

// sources are the inputs, as evidence of what isn't in them.
func (x *index) sources() []inventory.Evidence {
	var list []inventory.Evidence
	for _, s := range x.inv.Sources {
		list = append(list, inventory.Evidence{Where: s.Kind + " " + s.Name, Text: s.Detail})
	}
	return list
}

// noDriver tells that there was no Windows driver to judge.
func (w *world) noDriver(out *sink) {
	if told := !w.covered(inventory.DaemonSets) && !w.req.Static; told || len(w.Views) > 0 || len(w.req.Planned) > 0 || slices.ContainsFunc(w.inv.Drivers, func(d inventory.Driver) bool { return d.OS == "" }) {
		return
	}
	d := draft{
		Severity: finding.Unknown, Object: "Windows CSI drivers",
		Observed: fmt.Sprintf("none among %d DaemonSets of drivers; %d workloads were set aside", len(w.inv.Drivers), len(w.inv.SetAside)),
		Expected: "the DaemonSet of at least one Windows driver",
		Why:      "there was nothing to judge",
		Remedy:   "give the manifests of the Windows drivers too; `verify inventory` shows what was looked at and why it was set aside",
		When:     before, NoStep: true, Evidence: w.sources(),
	}
	// A cluster without any DaemonSet is none: they weren't gathered.
	cov := w.inv.Read[inventory.DaemonSets]
	if cov.Complete && cov.Count > 0 && (w.readFrom("cluster") || w.readFrom("must-gather")) {
		d.Severity = finding.Info
		d.Why = "the cluster has none, so no versions can differ"
	}
	out.add(d)
}
