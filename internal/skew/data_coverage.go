package skew

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// notRead is DATA002.
func notRead(w *world, out *sink) {
	if w.Hop > 0 || w.Phase != Now {
		return
	}
	for _, group := range w.unread() {
		w.unreadResources(out, group)
	}
	for _, p := range w.inv.Problems {
		d := draft{
			Severity: finding.Unknown, Object: p.Where, Same: p.What,
			Observed: p.What, Expected: "an input that can be read",
			Why:    "what stands there wasn't looked at, or isn't what is applied",
			Remedy: p.Fix, When: before, NoStep: true,
			Evidence: []inventory.Evidence{{Where: p.Where}},
		}
		if d.Remedy == "" {
			d.Remedy = "mend it, or leave it out of what is read"
		}
		out.add(d)
	}
	if !w.unseen(out) {
		w.noDriver(out)
	}
}

// unseen tells of drivers that Windows nodes have registered and whose DaemonSet
// wasn't read: its version may be any. It tells whether there are some.
func (w *world) unseen(out *sink) bool {
	on := map[string][]*inventory.Node{}
	for _, n := range w.windowsNodes() {
		c := w.CSINode(n.Name)
		if c == nil {
			continue
		}
		for _, p := range c.Drivers {
			if p != "" && !w.served(p, n) && !w.cutOff(p) {
				on[p] = append(on[p], n)
			}
		}
	}
	if told := !w.covered(inventory.DaemonSets) && !w.readFrom("must-gather"); told {
		return false
	}
	for _, p := range slices.Sorted(maps.Keys(on)) {
		out.add(draft{
			Severity: finding.Unknown, Object: p,
			Observed: fmt.Sprintf("registered on %s, and no Windows DaemonSet that was read runs it there", few(namesOf(on[p]))),
			Expected: "the DaemonSet of every driver that Windows nodes have",
			Why:      "its version may be any",
			Do:       w.howToFind(on[p]), When: before, NoStep: true, Evidence: cite(w.csiNodeFacts(on[p])),
		})
	}
	return len(on) > 0
}

// cutOff tells whether a driver's DaemonSet was read in part: the rest may say
// on which nodes it runs.
func (w *world) cutOff(provisioner string) bool {
	return slices.ContainsFunc(w.inv.Drivers, func(d inventory.Driver) bool {
		return d.OS != "linux" && d.Provisioner == provisioner && d.Partial != ""
	})
}

// howToFind is how a driver's DaemonSet gets into what is read. Where all
// DaemonSets were, something else runs the driver.
func (w *world) howToFind(on []*inventory.Node) []action.Action {
	if cov := w.inv.Read[inventory.DaemonSets]; cov.Complete && cov.Doubt == "" && (w.readFrom("cluster") || w.readFrom("must-gather")) {
		return []action.Action{action.Gather{Text: "all DaemonSets were read, so a pod without one or a program of the node runs it; see which",
			Get: []string{"get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + on[0].Name}}}
	}
	return w.howToRead(inventory.DaemonSets)
}

// unread are the resources that rules need and that weren't read whole, those
// together that one command adds.
func (w *world) unread() [][]inventory.Resource {
	var groups [][]inventory.Resource
	for _, r := range resourceOrder {
		cov := w.inv.Read[r]
		if cov.Complete && cov.Doubt == "" || cov.Told || w.req.Static && !w.covered(r) || len(w.needed[r]) == 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g []inventory.Resource) bool {
			first := w.inv.Read[g[0]]
			return first.Fix != "" && first.Fix == cov.Fix && first.Reason == cov.Reason && first.Doubt == cov.Doubt
		})
		if i < 0 {
			groups = append(groups, []inventory.Resource{r})
			continue
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// migrates tells whether the update moves a plugin's in-tree volumes to CSI: an
// inline one, which no PersistentVolume tells of, then needs a driver.
func (w *world) migrates() bool {
	return slices.ContainsFunc(w.cat.Drivers, func(d catalog.Driver) bool {
		on, _ := w.onCSI(d.InTree, w.target.MinorString())
		already, _ := w.onCSI(d.InTree, w.from())
		return on && !already
	})
}

// noWindows tells whether all nodes were read, and none runs Windows.
func (w *world) noWindows() bool {
	return w.covered(inventory.Nodes) && len(w.windowsNodes()) == 0
}

// unreadResources tells of kinds of objects that rules need.
func (w *world) unreadResources(out *sink, rs []inventory.Resource) {
	var names, seen, needed []string
	total := 0
	for _, r := range rs {
		names = append(names, titles[r])
		if n := w.inv.Read[r].Count; n > 0 {
			total += n
			seen = append(seen, many(n, strings.TrimSuffix(titles[r], "s")))
		}
		for _, rule := range w.needed[r] {
			if !slices.Contains(needed, rule) {
				needed = append(needed, rule)
			}
		}
	}
	d := draft{
		Severity: finding.Unknown, Object: and(names),
		Observed: and(names) + ": " + w.unreadReason(rs[0]), Expected: "all " + and(names),
		Why: fmt.Sprintf("%s couldn't be evaluated", few(needed)),
		Do:  w.howToRead(rs[0]), When: before, NoStep: true, Evidence: w.sources(),
	}
	if doubt := w.inv.Read[rs[0]].Doubt; doubt != "" {
		d.Severity = finding.Info
		if w.migrates() && !w.noWindows() {
			d.Severity = finding.Warn
		}
		d.Observed = fmt.Sprintf("%s of every namespace that was gathered or is mentioned; %s", and(names), doubt)
		d.Why = "a Windows pod with an inline volume, or a driver that no node has registered, in another namespace wasn't seen"
	} else if total > 0 {
		d.Observed = fmt.Sprintf("%s %s read, and maybe not all: %s", and(seen), map[bool]string{true: "was", false: "were"}[total == 1], w.unreadReason(rs[0]))
		d.Why = fmt.Sprintf("%s saw only a part", few(needed))
	}
	out.add(d)
}

// apiNames are what oc takes for a resource.
var apiNames = map[inventory.Resource]string{
	inventory.DaemonSets: "daemonsets.apps", inventory.Nodes: "nodes", inventory.CSINodes: "csinodes.storage.k8s.io",
	inventory.Pods: "pods", inventory.Volumes: "persistentvolumes", inventory.Claims: "persistentvolumeclaims",
	inventory.ClusterVersion: "clusterversions.config.openshift.io", inventory.Services: "configmaps",
	inventory.Namespaces: "namespaces", inventory.Pools: "machineconfigpools.machineconfiguration.openshift.io",
	inventory.CSIDrivers: "clustercsidrivers.operator.openshift.io", inventory.AdminGates: "configmaps", inventory.AdminAcks: "configmaps",
}

// howToRead is how a resource gets into what is read, for the input in use.
func (w *world) howToRead(r inventory.Resource) []action.Action {
	name, fix := apiNames[r], w.inv.Read[r].Fix
	switch {
	case w.readFrom("must-gather") && fix != "":
		return []action.Action{action.Gather{Text: "add what is missing to the must-gather's folder, and check that folder again", Lines: fix}}
	case w.readFrom("must-gather"):
		return []action.Action{action.Gather{Text: "gather it again, where all of it can be read", Get: []string{"adm", "must-gather"}}}
	case w.readFrom("cluster"):
		return []action.Action{action.Gather{Text: "grant get and list, then run it again; the command tells whether it is granted", Get: []string{"auth", "can-i", "list", name, "--all-namespaces"}}}
	}
	file := string(r) + ".yaml"
	return []action.Action{action.Gather{Text: "add it to --manifests, or say with --static that there is no cluster behind the manifests", Get: []string{"get", name, "--all-namespaces", "-o", "yaml"}, File: file}}
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
		Observed: fmt.Sprintf("none among %s of drivers; %s set aside", many(len(w.inv.Drivers), "DaemonSet"), many(len(w.inv.SetAside), "other workload")),
		Expected: "the DaemonSet of at least one Windows driver",
		Why:      "there was nothing to judge",
		Remedy:   "give the manifests of the Windows drivers too; `verify inventory` shows what was looked at and why it was set aside",
		When:     before, NoStep: true, Evidence: w.sources(),
	}
	// A cluster without any DaemonSet is none: they weren't gathered.
	cov := w.inv.Read[inventory.DaemonSets]
	if cov.Complete && cov.Doubt == "" && cov.Count > 0 && (w.readFrom("cluster") || w.readFrom("must-gather")) {
		d.Severity = finding.Info
		d.Why = "the cluster has none, so no versions can differ"
	}
	out.add(d)
}
