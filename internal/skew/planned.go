package skew

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
)

// heirs are the planned DaemonSets that take a DaemonSet's place together: the
// one of its name, which `oc apply` writes over it, or those that run its driver
// on all of its nodes. None: it stays, as an operator's does, which would come
// back.
func (x *index) heirs(d *inventory.Driver) []*inventory.Driver {
	return memo(x, "heirs of "+d.Object.String(), func() []*inventory.Driver {
		if x.operated(d) {
			return nil
		}
		if at := slices.IndexFunc(x.plannedWindows(), func(p *inventory.Driver) bool { return sameObject(p.Object, d.Object) }); at >= 0 {
			return x.plannedWindows()[at : at+1]
		}
		if met := x.meeting(d); x.cover(met, d) {
			return met
		}
		return nil
	})
}

// meeting are the planned DaemonSets of a driver that would run on nodes of d.
func (x *index) meeting(d *inventory.Driver) []*inventory.Driver {
	return slices.DeleteFunc(slices.Clone(x.plannedAs(d)), func(p *inventory.Driver) bool { return !x.meet(p, d) })
}

// plannedAs are the planned DaemonSets of the driver of d.
func (x *index) plannedAs(d *inventory.Driver) []*inventory.Driver {
	return memo(x, "planned as "+d.Provisioner, func() []*inventory.Driver {
		return slices.DeleteFunc(slices.Clone(x.plannedWindows()), func(p *inventory.Driver) bool {
			return p.Provisioner == "" || p.Provisioner != d.Provisioner
		})
	})
}

// wanting are planned DaemonSets that can't take the place of d as they are, and
// the rule that says why.
func (x *index) wanting(d *inventory.Driver) (list []*inventory.Driver, rule string) {
	if heirs := x.heirs(d); len(heirs) > 0 {
		if len(x.deserts(d)) > 0 {
			return heirs, "REG001"
		}
		return nil, ""
	}
	if met := x.meeting(d); len(met) > 0 {
		return met, "REG002"
	}
	if idle := slices.DeleteFunc(slices.Clone(x.plannedAs(d)), func(p *inventory.Driver) bool { return !x.runsNowhere(p) }); len(idle) > 0 && len(x.Scope(d)) > 0 {
		return idle, "REG004"
	}
	return nil, ""
}

// deserts are nodes that have the driver of d now, and won't when what was
// planned is written over d.
func (x *index) deserts(d *inventory.Driver) []*inventory.Node {
	heirs := x.heirs(d)
	if len(heirs) == 0 || d.Provisioner == "" || heirs[0].Provisioner == "" {
		return nil
	}
	stay := slices.DeleteFunc(slices.Clone(x.windowsOf(d.Provisioner)), func(o *inventory.Driver) bool { return len(x.heirs(o)) > 0 })
	return slices.DeleteFunc(slices.Clone(x.Scope(d)), func(n *inventory.Node) bool {
		return slices.ContainsFunc(slices.Concat(x.plannedAs(d), stay), func(o *inventory.Driver) bool { return slices.Contains(x.Scope(o), n) })
	})
}

// windowsOf are the Windows DaemonSets of the inventory of a provisioner.
func (x *index) windowsOf(provisioner string) []*inventory.Driver {
	return memo(x, "Windows DaemonSets of "+provisioner, func() []*inventory.Driver {
		var list []*inventory.Driver
		for i := range x.inv.Drivers {
			if d := &x.inv.Drivers[i]; d.OS == "windows" && d.Provisioner == provisioner {
				list = append(list, d)
			}
		}
		return list
	})
}

// plannedWindows are the planned DaemonSets for Windows.
func (x *index) plannedWindows() []*inventory.Driver {
	return memo(x, "planned for Windows", func() []*inventory.Driver {
		var list []*inventory.Driver
		for i := range x.req.Planned {
			if p := &x.req.Planned[i]; p.OS == "windows" {
				list = append(list, p)
			}
		}
		return list
	})
}

// sameObject: a manifest may leave the namespace to the command that applies it.
func sameObject(a, b inventory.Object) bool {
	return a.Kind == b.Kind && a.Name == b.Name && (a.Namespace == b.Namespace || a.Namespace == "" || b.Namespace == "")
}

// meet tells whether a DaemonSet may have pods on a node of b. Where b has none
// it meets what takes every node that b would.
func (x *index) meet(a, b *inventory.Driver) bool {
	switch {
	case len(x.Scope(b)) > 0:
	case x.inv.Read[inventory.Nodes].Complete:
		return noNarrower(a.Scheduling, b.Scheduling)
	default:
		return !neverMeet(a.Scheduling, b.Scheduling)
	}
	return slices.ContainsFunc(x.Scope(b), func(n *inventory.Node) bool { return slices.Contains(x.Scope(a), n) })
}

// cover tells whether DaemonSets leave none of the nodes of d without one of
// them. Where d has none, or none were read, the selectors tell.
func (x *index) cover(list []*inventory.Driver, d *inventory.Driver) bool {
	if len(x.Scope(d)) == 0 {
		return slices.ContainsFunc(list, func(p *inventory.Driver) bool { return noNarrower(p.Scheduling, d.Scheduling) })
	}
	return !slices.ContainsFunc(x.Scope(d), func(n *inventory.Node) bool {
		return !slices.ContainsFunc(list, func(p *inventory.Driver) bool { return slices.Contains(x.Scope(p), n) })
	})
}

// noNarrower tells whether a selects every node that b selects.
func noNarrower(a, b inventory.Scheduling) bool {
	for key, value := range a.NodeSelector {
		if have, ok := b.NodeSelector[key]; !ok || have != value {
			return false
		}
	}
	return len(a.Terms) == 0 || sameTerms(a.Terms, b.Terms)
}

func sameTerms(a, b []inventory.Term) bool {
	sameExpressions := func(a, b []inventory.Expression) bool {
		return slices.EqualFunc(a, b, func(a, b inventory.Expression) bool {
			return a.Key == b.Key && a.Operator == b.Operator && slices.Equal(a.Values, b.Values)
		})
	}
	return slices.EqualFunc(a, b, func(a, b inventory.Term) bool {
		return sameExpressions(a.Expressions, b.Expressions) && sameExpressions(a.Fields, b.Fields)
	})
}

// runsNowhere tells whether a DaemonSet takes none of the Windows nodes that
// there are.
func (x *index) runsNowhere(d *inventory.Driver) bool {
	return len(x.inv.Nodes) > 0 && x.idle(d)
}

// plannedFor are the planned DaemonSets that are to take the place of d, whether
// they can or not; nil for none.
func (x *index) plannedFor(d *inventory.Driver) []*inventory.Driver {
	if heirs := x.heirs(d); len(heirs) > 0 {
		return heirs
	}
	list, _ := x.wanting(d)
	return list
}

// plannedChanges apply what was planned for a driver, a file each: a file may
// hold several DaemonSets, and replaces what each of them replaces. None where
// nothing was planned for it.
func (x *index) plannedChanges(d *inventory.Driver) []action.Action {
	var list []action.Action
	var files []string
	for _, p := range x.plannedFor(d) {
		if file := plannedFile(p); !slices.Contains(files, file) {
			files = append(files, file)
			list = append(list, x.plannedFileChange(file)...)
		}
	}
	return list
}

// plannedFileChange applies a file of planned DaemonSets. Where one of them
// can't take the place of what it was planned for it has no commands: they would
// leave nodes without a driver, or with two.
func (x *index) plannedFileChange(file string) []action.Action {
	apply := action.ApplyPlanned{File: file}
	var gone []action.Action
	faults := map[string]bool{}
	for _, p := range x.plannedWindows() {
		if plannedFile(p) != file {
			continue
		}
		apply.Sets = append(apply.Sets, *p)
		if l := x.lineAt(p); l != nil && mandatory(l) && !p.HostProcess {
			faults["HP001"] = true
		}
		for _, d := range x.predecessors()[p] {
			if list, rule := x.wanting(d); slices.Contains(list, p) {
				faults[rule] = true
			}
			switch heirs := x.heirs(d); {
			case sameObject(p.Object, d.Object):
				apply.Present = append(apply.Present, d.Object)
			case len(heirs) == 0 || heirs[0] == p: // it goes with the first of its heirs
				gone = append(gone, action.DeleteDaemonSet{
					Object: d.Object, Why: p.Object.String() + " of " + file + " takes its place",
					Without: "from the delete until the pods of " + p.Object.String() + " are ready, some minutes, no volume of " + d.Provisioner + " can be mounted or unmounted on its nodes; mounted ones stay",
				})
			}
		}
	}
	if len(faults) > 0 {
		return []action.Action{action.ByHand{Object: file, Text: fmt.Sprintf("fix %s as %s asks, check again, and only then apply it", file, and(slices.Sorted(maps.Keys(faults))))}}
	}
	return append(gone, apply)
}

// atLine is the line and column behind a file's name.
var atLine = regexp.MustCompile(`(:[0-9]+)+$`)

// plannedFile is the file that a driver was read from.
func plannedFile(d *inventory.Driver) string {
	where := d.Version.At.Where
	for _, e := range d.Evidence {
		where = cmp.Or(where, e.Where)
	}
	file := atLine.ReplaceAllString(where, "")
	if file == "" || file == "-" {
		return "planned.yaml"
	}
	return file
}

// predecessors are the DaemonSets of the inventory that planned ones were
// planned for.
func (x *index) predecessors() map[*inventory.Driver][]*inventory.Driver {
	return memo(x, "predecessors", func() map[*inventory.Driver][]*inventory.Driver {
		of := map[*inventory.Driver][]*inventory.Driver{}
		for i := range x.inv.Drivers {
			d := &x.inv.Drivers[i]
			if d.OS != "windows" {
				continue
			}
			for _, p := range x.plannedFor(d) {
				of[p] = append(of[p], d)
			}
		}
		return of
	})
}

// deserted is REG001 of what was planned: nodes that have the driver now, and
// won't when the planned manifest is written over the present one.
func (w *world) deserted() []draft {
	var said []draft
	for i := range w.inv.Drivers {
		d := &w.inv.Drivers[i]
		if d.OS != "windows" {
			continue
		}
		var used, unused []*inventory.Node
		for _, n := range w.deserts(d) {
			if w.anyUse(d.Provisioner)[n.Name] {
				used = append(used, n)
			} else {
				unused = append(unused, n)
			}
		}
		said = append(said, w.desert(d, used, finding.Block)...)
		said = append(said, w.desert(d, unused, finding.Warn)...)
	}
	return said
}

func (w *world) desert(d *inventory.Driver, nodes []*inventory.Node, sev finding.Severity) []draft {
	if len(nodes) == 0 {
		return nil
	}
	p := w.heirs(d)[0]
	f := draft{Severity: sev, Object: d.Object.String(), Same: "planned", When: before}
	f.Observed = fmt.Sprintf("it runs %s on %s, and with the planned manifest in %s no DaemonSet does", d.Provisioner, someOf(nodeNames(nodes)), plannedFile(p))
	if sev == finding.Block {
		f.Observed += "; Windows pods there use its volumes"
	}
	f.Expected = "the driver on each node that has it now"
	f.Why = "a volume can't be attached or mounted on a node that the driver doesn't run on"
	f.Remedy = fmt.Sprintf("let %s in %s choose these nodes too, with the node selector, affinity and tolerations that the present one has, or plan another DaemonSet for them", p.Object, plannedFile(p))
	f.Evidence = cite(slices.Concat(p.Evidence[:min(1, len(p.Evidence))], evidenceOf(nodes)))
	return []draft{f}
}

// anyUse are the nodes on which Windows pods have volumes of the provisioner,
// in-tree ones that it serves too.
func (x *index) anyUse(provisioner string) map[string]bool {
	return memo(x, "nodes with volumes of "+provisioner, func() map[string]bool {
		on := map[string]bool{}
		for _, u := range x.Uses(provisioner) {
			on[u.Node] = true
		}
		return on
	})
}

// plannedInVain is REG004 of what was planned: it would run on no node.
func (w *world) plannedInVain() []draft {
	var said []draft
	for _, p := range w.plannedWindows() {
		if !w.runsNowhere(p) {
			continue
		}
		f := draft{Severity: finding.Info, Object: p.Object.String(), Same: "planned", When: before}
		f.Observed = "none of the Windows nodes matches the planned manifest: it would have no pod"
		f.Expected = "a Windows node that it runs on"
		f.Why = "where it is for nodes that are still to come, nothing is wrong"
		f.Evidence = cite(slices.Concat(p.Evidence[:min(1, len(p.Evidence))], evidenceOf(w.windowsNodes())))
		if of := w.predecessors()[p]; len(of) > 0 {
			f.Severity = finding.Warn
			f.Why = of[0].Object.String() + " runs the driver on these nodes, and it can't take that one's place"
			f.Remedy = fmt.Sprintf("give it in %s the node selector, affinity and tolerations that %s has: the nodes' labels must be selected, and their taints tolerated", plannedFile(p), of[0].Object)
		}
		said = append(said, f)
	}
	return said
}
