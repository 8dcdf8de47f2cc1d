package rules

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

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
