package rules

import (
	"embed"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// What rules need; a rule with other needs lists them itself. A resource that
// is missing makes its rules not evaluated, and DATA002 UNKNOWN.
var (
	NeedsDrivers = []inventory.Resource{inventory.DaemonSets}
	NeedsNodes   = []inventory.Resource{inventory.Nodes}
	// NeedsScope is for rules that hold a driver against the nodes it runs on.
	NeedsScope = []inventory.Resource{inventory.DaemonSets, inventory.Nodes}
)

// Phases for Rule.At; a rule that reports at every phase names none.
var (
	AtNow    = []snapshot.Phase{snapshot.Now}
	AtTarget = []snapshot.Phase{snapshot.Target}
)

// Family gives rules their texts, each from the file that is called as the rule is.
func Family(texts embed.FS, list ...Rule) []Rule {
	for i := range list {
		file, err := texts.ReadFile(strings.ToLower(list[i].ID) + ".yaml")
		if err != nil {
			panic(err) // part of the program
		}
		list[i].file = string(file)
	}
	return list
}

// Report takes what a rule says.
type Report func(Finding)

// Rule is one rule: its judgement, of drivers or of the cluster, or both. What it
// says of itself and of a cluster is in the file beside it.
type Rule struct {
	ID   string
	file string // its content
	// Like is a rule of another family whose findings it makes too.
	Like *Rule
	// Needs are the resources without which the rule says nothing.
	Needs []inventory.Resource
	// Driver is called for every Windows driver at every moment.
	Driver func(v *snapshot.View, report Report)
	// Cluster is called once at every moment.
	Cluster func(snap *snapshot.Snapshot, report Report)
	// At are the phases at which it has something to say; none: all of them.
	At []snapshot.Phase
	// Lacks: its BLOCK goes by what a pod lacks, which the rest of a
	// manifest that isn't whole may have.
	Lacks bool
	// Starts: it derives that a driver can't start or register. Where the driver
	// is seen to do so, there is no finding. It is a rule of drivers.
	Starts bool
	// Asks is when the rule has a question at all; its zero value is always.
	Asks When
}

// When is when a rule has a question to ask.
type When int

const (
	// Always is at every moment.
	Always When = iota
	// OfHops is of an update alone.
	OfHops
	// OfRest is of the check after an update alone.
	OfRest
	// OfState is of the check after an update, and of one that isn't complete.
	OfState
)

// Explain is what a rule says of itself, with what holds for all of its kind.
func Explain(r *Rule) Explanation {
	said := textsOf(r.file).Explanation
	said.ID, said.Needs = r.ID, r.Needs
	if r.Starts {
		said.Text += "\n\nIt is silent where the driver is seen to start: the pods of the present template are all ready, and\nthe nodes' CSINodes list it."
	}
	return said
}
