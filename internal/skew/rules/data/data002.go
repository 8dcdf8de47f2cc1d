package data

import (
	"cmp"
	"maps"
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

func notRead(snap *snapshot.Snapshot, report rules.Report) {
	groups := unread(snap)
	all := slices.Concat(groups...)
	for _, group := range groups {
		if readFrom(snap, "cluster") {
			all = group[:1] // each is a right of its own
		}
		unreadResources(snap, report, group, howToRead(snap, all...))
	}
	for _, p := range snap.Inventory.Problems {
		d := rules.Finding{
			Case: "problem", Facts: rules.Facts{"problem": p}, Same: p.What, NoStep: true, Evidence: []inventory.Evidence{{Where: p.Where}},
			Do: []action.Action{action.ByHand{Text: cmp.Or(p.Fix, "fix it, or leave it out of what is read"), Lines: []string{p.Command}}},
		}
		if do := selectWindows(snap, p); do != nil {
			d.Do, d.NoStep, d.Why = do, false, "a selector that no node fits runs no pod"
		}
		report(d)
	}
	if !unseen(snap, report) {
		noDriver(snap, report)
	}
}

// selectWindows fixes a DaemonSet's node selector in the cluster: what else asks for
// it does so by the same action.
func selectWindows(snap *snapshot.Snapshot, p inventory.Problem) []action.Action {
	i := slices.IndexFunc(snap.Inventory.Drivers, func(d inventory.Driver) bool { return d.Object == p.Selector })
	if i < 0 || snap.Request.Static {
		return nil
	}
	return remedy.SelectWindows(&snap.Inventory.Drivers[i])
}

// unseen tells of drivers that Windows nodes have registered and whose DaemonSet
// wasn't read: its version may be any. It tells whether there are some.
func unseen(snap *snapshot.Snapshot, report rules.Report) bool {
	on := map[string][]*inventory.Node{}
	for _, n := range snap.Nodes {
		c := snap.CSINode(n.Name)
		if c == nil {
			continue
		}
		for _, p := range c.Drivers {
			if p != "" && snap.Serving(p, n) == nil && !cutOff(snap, p) && !hasPod(snap, p, n) {
				on[p] = append(on[p], n)
			}
		}
	}
	if told := !snap.Covered(inventory.DaemonSets) && !readFrom(snap, "must-gather"); told {
		return false
	}
	for _, p := range slices.Sorted(maps.Keys(on)) {
		report(rules.Finding{Case: "unseen", Facts: rules.Facts{"nodes": on[p]}, Object: p, Do: howToFind(snap, on[p]), Evidence: rules.Cite(snap.CSINodeEvidence(on[p]))})
	}
	return len(on) > 0
}

// hasPod tells whether a pod of a driver's DaemonSet runs on a node, though it takes no new
// one there: its tolerations or its node selector were changed, or the node was.
func hasPod(snap *snapshot.Snapshot, provisioner string, n *inventory.Node) bool {
	return slices.ContainsFunc(snap.DaemonSetsOf(provisioner), func(d *inventory.Driver) bool {
		return slices.ContainsFunc(d.Running, func(r inventory.Running) bool { return slices.Contains(r.Nodes, n.Name) })
	})
}

// cutOff tells whether a driver's DaemonSet was read in part: the rest may say
// on which nodes it runs.
func cutOff(snap *snapshot.Snapshot, provisioner string) bool {
	return slices.ContainsFunc(snap.Inventory.Drivers, func(d inventory.Driver) bool {
		return d.OS != "linux" && d.Provisioner == provisioner && d.Partial != ""
	})
}

// howToFind is how a driver's DaemonSet gets into what is read. Where all
// DaemonSets were, something else runs the driver.
func howToFind(snap *snapshot.Snapshot, on []*inventory.Node) []action.Action {
	if cov := snap.Inventory.Read[inventory.DaemonSets]; cov.Complete && cov.Doubt == "" && (readFrom(snap, "cluster") || readFrom(snap, "must-gather")) {
		return []action.Action{action.Gather{Text: "all DaemonSets were read, so a pod without one or a program of the node runs it; see which",
			Get: []string{"get", "pods", "--all-namespaces", "-o", "wide", "--field-selector", "spec.nodeName=" + on[0].Name}}}
	}
	return howToRead(snap, append(slices.Concat(unread(snap)...), inventory.DaemonSets)...)
}

// unread are the resources that rules need and that weren't read whole, those
// together that one command adds.
func unread(snap *snapshot.Snapshot) [][]inventory.Resource {
	var groups [][]inventory.Resource
	for _, r := range snapshot.Map(snapshot.Resources, func(n snapshot.Resource) inventory.Resource { return n.Resource }) {
		cov := snap.Inventory.Read[r]
		if cov.Complete && cov.Doubt == "" || cov.Told || noWindows(snap) && readFrom(snap, "must-gather") && slices.Contains(ofWindows, r) || snap.Request.Static && !snap.Covered(r) || len(snap.Needed[r]) == 0 {
			continue
		}
		i := slices.IndexFunc(groups, func(g []inventory.Resource) bool {
			first := snap.Inventory.Read[g[0]]
			return first.Gather != nil && cov.Gather != nil && first.Reason == cov.Reason && first.Doubt == cov.Doubt
		})
		if i < 0 {
			groups = append(groups, []inventory.Resource{r})
			continue
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// ofWindows are the resources that matter where there is a Windows node alone. A must-gather
// has all nodes and not all namespaces; of a cluster, what may not be read is told.
var ofWindows = []inventory.Resource{inventory.DaemonSets, inventory.Pods, inventory.Claims, inventory.Volumes, inventory.CSINodes, inventory.Namespaces, inventory.Services}

// noWindows tells whether all nodes were read and none runs Windows. That of a part of
// the nodes says nothing.
func noWindows(snap *snapshot.Snapshot) bool {
	cov := snap.Inventory.Read[inventory.Nodes]
	return cov.Complete && cov.Doubt == "" && snap.Inventory.LinuxNodes > 0 && len(snap.Nodes) == 0
}

// migrates tells whether the update moves a plugin's in-tree volumes to CSI: an
// inline one, which no PersistentVolume tells of, then needs a driver.
func migrates(snap *snapshot.Snapshot) bool {
	return slices.ContainsFunc(snap.Catalog.Drivers, func(d catalog.Driver) bool {
		on, _ := snap.OnCSI(d.InTree, snap.Target.MinorString())
		already, _ := snap.OnCSI(d.InTree, snap.FromMinor())
		return on && !already
	})
}

// unreadResources tells of kinds of objects that rules need. All that is missing is
// asked for at once.
func unreadResources(snap *snapshot.Snapshot, report rules.Report, rs []inventory.Resource, do []action.Action) {
	var names, seen, needed []string
	total := 0
	for _, r := range rs {
		names = append(names, snapshot.Named(r).Title)
		if n := snap.Inventory.Read[r].Count; n > 0 {
			total += n
			seen = append(seen, inventory.Many(n, strings.TrimSuffix(snapshot.Named(r).Title, "s")))
		}
		needed = append(needed, snap.Needed[r]...)
	}
	d := rules.Finding{
		Case: "not read", Do: do, Evidence: sources(snap),
		Facts: rules.Facts{"names": rules.And(names), "seen": rules.And(seen), "one": total == 1, "reason": snap.UnreadReason(rs[0]), "rules": inventory.Some(snapshot.Unique(needed))},
	}
	if doubt := snap.Inventory.Read[rs[0]].Doubt; doubt != "" {
		d.Case, d.Facts["doubt"] = "maybe not all", doubt
		if none := snap.Covered(inventory.Nodes) && len(snap.Nodes) == 0; migrates(snap) && !none {
			d.Severity = finding.Warn
		}
	} else if total > 0 {
		d.Case = "a part"
	}
	report(d)
}

// howToRead is how resources get into what is read, for the input in use. Pods come
// with the claims and volumes that they use: they would be asked for next.
func howToRead(snap *snapshot.Snapshot, rs ...inventory.Resource) []action.Action {
	if slices.Contains(rs, inventory.Pods) && !readFrom(snap, "cluster") {
		with := snapshot.Select([]inventory.Resource{inventory.Volumes, inventory.Claims}, func(r inventory.Resource) bool { return !snap.Covered(r) })
		rs = snapshot.Unique(slices.Concat(rs, with))
	}
	names := snapshot.Unique(snapshot.Map(rs, func(r inventory.Resource) string { return snapshot.Named(r).API }))
	switch {
	case readFrom(snap, "must-gather"):
		into := snapshot.Map(rs, func(r inventory.Resource) *inventory.Gather { return snap.Inventory.Read[r].Gather })
		if into = slices.DeleteFunc(into, func(g *inventory.Gather) bool { return g == nil }); len(into) > 0 {
			return []action.Action{action.Gather{Text: "add what is missing to the must-gather's folder, and check that folder again", Into: into}}
		}
		return []action.Action{action.Gather{Text: "gather it again, where all of it can be read", Get: []string{"adm", "must-gather"}}}
	case readFrom(snap, "cluster"):
		return []action.Action{action.Gather{Text: "grant get and list, then run it again; the command tells whether it is granted", Get: []string{"auth", "can-i", "list", snapshot.Named(rs[len(rs)-1]).API, "--all-namespaces"}}}
	}
	file := "cluster.yaml"
	if len(rs) == 1 {
		file = string(rs[0]) + ".yaml"
	}
	return []action.Action{action.Gather{Text: "add " + file + " to --manifests, or say with --static that there is no cluster behind the manifests", Get: []string{"get", strings.Join(names, ","), "--all-namespaces", "-o", "yaml"}, File: file}}
}

func readFrom(snap *snapshot.Snapshot, kind string) bool {
	return slices.ContainsFunc(snap.Inventory.Sources, func(s inventory.Source) bool { return s.Kind == kind })
}

func sources(snap *snapshot.Snapshot) []inventory.Evidence {
	return snapshot.Map(snap.Inventory.Sources, func(s inventory.Source) inventory.Evidence {
		return inventory.Evidence{Where: s.Kind + " " + s.Name, Text: s.Detail}
	})
}

func noDriver(snap *snapshot.Snapshot, report rules.Report) {
	if told := !snap.Covered(inventory.DaemonSets) && !snap.Request.Static; told || len(snap.Views) > 0 || slices.ContainsFunc(snap.Inventory.Drivers, func(d inventory.Driver) bool { return d.OS == "" }) {
		return
	}
	d := rules.Finding{
		Case: "no driver", Evidence: sources(snap),
		Facts: rules.Facts{"sets": inventory.Many(len(snap.Inventory.Drivers), "DaemonSet"), "others": inventory.Many(len(snap.Inventory.SetAside), "other workload")},
	}
	// A cluster without any DaemonSet is none: they weren't gathered.
	cov := snap.Inventory.Read[inventory.DaemonSets]
	if cov.Complete && cov.Doubt == "" && cov.Count > 0 && (readFrom(snap, "cluster") || readFrom(snap, "must-gather") || noWindows(snap) || noStorage(snap)) {
		d.Case = "no driver at all"
	}
	report(d)
}

// noStorage tells whether no Windows node can have a driver: what nodes have registered was
// read of each, and the pods that might ask for volumes were.
func noStorage(snap *snapshot.Snapshot) bool {
	return snap.Inventory.Read[inventory.Nodes].Complete && len(snap.Nodes) > 0 && snap.Covered(inventory.Pods) &&
		!slices.ContainsFunc(snap.Nodes, func(n *inventory.Node) bool { return snap.CSINode(n.Name) == nil })
}

var data002 = rules.Rule{ID: "DATA002", Cluster: notRead, At: rules.AtNow}
