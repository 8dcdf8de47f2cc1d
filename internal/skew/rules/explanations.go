package rules

import (
	_ "embed"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
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
