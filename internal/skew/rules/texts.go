package rules

import (
	_ "embed"
	"slices"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

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

// texts are what a rule's file has: its explanation, and what it says of a cluster, by case.
type texts struct {
	Explanation `yaml:",inline"`
	Findings    map[string]Finding `yaml:"findings"`
}

var parsed sync.Map // texts by their file's content

// textsOf parses a rule's file when it is first needed.
func textsOf(file string) *texts {
	t, known := parsed.Load(file)
	if !known {
		read := &texts{}
		if err := yaml.Unmarshal([]byte(file), read); err != nil {
			panic(err) // part of the program
		}
		t, _ = parsed.LoadOrStore(file, read)
	}
	return t.(*texts)
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

//go:embed retired.yaml
var retiredFile []byte

// ExplainRetired finds a rule that was taken out by its ID.
func ExplainRetired(id string) (Retired, bool) {
	var retired []Retired
	if err := yaml.Unmarshal(retiredFile, &retired); err != nil {
		panic(err) // part of the program
	}
	i := slices.IndexFunc(retired, func(r Retired) bool { return r.ID == id })
	if i < 0 {
		return Retired{}, false
	}
	return retired[i], true
}
