// Package rules is what all rules share: what a rule is and needs, its
// explanation, and how findings of several moments become one. The rules
// themselves are in the packages below it, a family each.
package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// Owned has the owner of a DaemonSet make the changes of it, where it has one.
func Owned(snap *snapshot.Snapshot, list []action.Action) []action.Action {
	return snapshot.Map(list, func(a action.Action) action.Action {
		for _, o := range action.Changes(a) {
			if by := ownerOf(snap, o); by != nil {
				return action.ByOwner{Owner: *by, Change: a}
			}
		}
		return a
	})
}

// ownerOf is the first owner of a DaemonSet, whose source decides; nil for none.
// A DaemonSet that carries the marks of OpenShift's operators by mistake has
// none: it is the admin's own.
func ownerOf(snap *snapshot.Snapshot, o inventory.Object) *inventory.Owner {
	if d := snapshot.First(snap.Drivers, func(d *inventory.Driver) bool { return d.Object == o && !d.OperatorManaged && len(d.Owners) > 0 }); d != nil {
		return &d.Owners[0]
	}
	return nil
}

// The values of Finding.When: relative to the hop at which the finding is made.
const (
	Before = "before"
	During = "during"
	After  = "after"
)

// Facts are what a text of a rule's finding names, beside snap and the driver's v.
type Facts map[string]any

// Finding is what a rule says; the collector makes a finding.Finding of it.
type Finding struct {
	// Case names the texts in the rule's file, Facts are what they name. What
	// the rule sets itself counts more than what is there.
	Case     string
	Facts    Facts
	Severity finding.Severity
	// Object is left empty by per-driver rules: it is the DaemonSet.
	Object string
	// Observed and Expected are facts without a verb of judgement; Why says what
	// goes wrong. Remedy is an exact command or manifest action, When its time.
	Observed, Expected, Why, Remedy, When string
	// Do are the actions that Remedy puts in words. A rule writes no command into
	// Remedy.
	Do []action.Action
	// Or is what may be enough instead, with which Remedy and its step end: "; or
	// leave it".
	Or string
	// Source is empty where the rule's own holds.
	Source   string
	Evidence []inventory.Evidence
	// Same tells findings of one rule about one object apart, where there may be
	// several at one moment; it is part of what makes a fact the same later.
	Same string
	// Nodes are those on which the driver can't start or register, for a rule
	// that says so; nil: all that it runs on.
	Nodes []*inventory.Node
	// Later says that a rule of that kind is about what the driver does after it
	// registered.
	Later bool
	// PlanInfo puts it into the plan though it is INFO.
	PlanInfo bool
	// NoStep keeps it out of the plan: another finding's or the path's own step
	// does it.
	NoStep bool
	// Late puts its step behind those of its kind that change drivers.
	Late bool
}

// Summaries are actions in words.
func Summaries(list []finding.Action) string {
	return strings.Join(snapshot.Map(list, func(a finding.Action) string { return a.Summary }), "; then ")
}

func evidenceLines(list []inventory.Evidence) []string {
	var out []string
	for _, e := range list {
		s := e.Where
		if e.Text != "" {
			s += ": " + e.Text
		}
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// SettleFirst is the remedy where two Linux drivers leave open which one to follow.
const SettleFirst = "do what DATA001 asks for first: it tells which Linux driver to follow"

// ImageKey is what --image-version takes for this image.
func ImageKey(v *snapshot.View) string {
	if len(v.DaemonSet.Running) == 1 && v.DaemonSet.Running[0].Image.Digest != "" {
		return v.DaemonSet.Running[0].Image.Digest
	}
	return cmp.Or(v.DaemonSet.Image.Digest, v.DaemonSet.Image.Reference, "IMAGE")
}

// mostNames is how many nodes or objects a text names before it counts.
const mostNames = 5

// SomeOf lists the first names and counts the others.
func SomeOf(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return inventory.Some(slices.Compact(names))
}

// Cite keeps the first places where facts were read; beyond a few nodes they
// say nothing new.
func Cite(facts []inventory.Evidence) []inventory.Evidence {
	var out []inventory.Evidence
	for _, e := range facts {
		if e.Where != "" && !slices.Contains(out, e) && len(out) < mostNames {
			out = append(out, e)
		}
	}
	return out
}

// ReleaseText is a release, or what is shown for one that isn't known.
func ReleaseText(o version.OpenShift, unknown string) string {
	if o.IsZero() {
		return unknown
	}
	return "OpenShift " + o.String()
}

// And is "Nodes", "Nodes and Pods", "DaemonSets, Nodes and Pods".
func And(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
