package rules

import (
	_ "embed"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

//go:embed explanations.yaml
var explanationsFile []byte

// Explanation is what a rule says of itself.
type Explanation struct {
	// ID is frozen: --accept and dashboards hold it.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Severity is the worst that the rule gives.
	Severity finding.Severity `json:"severity"`
	// Ground is why the rule is one, in a sentence; Source where it is written.
	Ground string `json:"ground"`
	Source string `json:"source"`
	// Text is for --explain: what is compared, when each severity is given, and
	// what the rule can't see. Remedy is what to do about it, in a sentence; a
	// finding's own names the command.
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
	// State is a cluster in which the rule changes what an admin does, and what that
	// is. Shown is its folder below test/skew/testdata.
	State string `json:"state,omitempty"`
	Shown string `json:"-"`
	// Needs are the resources without which the rule says nothing.
	Needs []inventory.Resource `json:"needs,omitempty" yaml:"-"`
}

// Retired is a rule that was taken out. Its ID stays reserved: --accept and
// dashboards may still hold it, and it must never mean something else.
type Retired struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Why says why there is no such rule any more, and which one tells what is
	// left of it.
	Why string `json:"why"`
}

type explanationFile struct {
	Rules   []Explanation
	Retired []Retired
	byID    map[string]Explanation
}

// explanations reads the file once. It is the program's own: what is wrong
// with it a test finds.
var explanations = sync.OnceValue(func() *explanationFile {
	e := &explanationFile{byID: map[string]Explanation{}}
	if err := yaml.Unmarshal(explanationsFile, e); err != nil {
		panic(err)
	}
	for _, r := range e.Rules {
		e.byID[r.ID] = r
	}
	return e
})

// Explain is what a rule says of itself, with what holds for all of its kind.
func Explain(r *Rule) Explanation {
	said := explanations().byID[r.ID]
	said.ID, said.Needs = r.ID, r.Needs
	if r.Starts {
		said.Text += "\n\nIt is silent where the driver is seen to start: the pods of the present template are all ready, and\nthe nodes' CSINodes list it."
	}
	return said
}

// ExplainRetired finds a rule that was taken out by its ID.
func ExplainRetired(id string) (Retired, bool) {
	for _, r := range explanations().Retired {
		if r.ID == id {
			return r, true
		}
	}
	return Retired{}, false
}

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
	AtNow        = []snapshot.Phase{snapshot.Now}
	AtTarget     = []snapshot.Phase{snapshot.Target}
	ExceptTarget = []snapshot.Phase{snapshot.Now, snapshot.Planned}
	ExceptPlan   = []snapshot.Phase{snapshot.Now, snapshot.Target}
)

// Report takes what a rule says.
type Report func(Finding)

// Rule is one rule: its judgement, of drivers or of the cluster, or both. What it
// says of itself is in explanations.yaml.
type Rule struct {
	ID string
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
