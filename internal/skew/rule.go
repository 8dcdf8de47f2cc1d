package skew

import (
	"slices"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/inventory"
)

// Scope is what a rule looks at in one go.
type Scope string

// The scopes.
const (
	PerDriver  Scope = "driver"  // one Windows driver
	PerCluster Scope = "cluster" // everything
)

// Rule describes one rule.
type Rule struct {
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
	Remedy string `json:"remedy"`
	// Needs are the resources without which the rule says nothing.
	Needs []inventory.Resource `json:"needs,omitempty"`
	Scope Scope                `json:"scope"`
}

// rule is a Rule with its judgement: one of the two, as Scope says.
type rule struct {
	Rule
	// driver is called for every Windows driver at every moment.
	driver func(v *view, out *sink)
	// cluster is called once at every moment.
	cluster func(w *world, out *sink)
	// lacks: its BLOCK goes by what a pod hasn't got, which the rest of a
	// manifest that isn't whole may have.
	lacks bool
	// starts: it derives that a driver can't start or register. Where the driver
	// is seen to do so, there is no finding.
	starts bool
	// asks is when the rule has a question at all; its zero value is always.
	asks asking
}

// asking is when a rule has a question to ask.
type asking int

const (
	always  asking = iota
	ofHops         // of an update alone
	ofRest         // of the check after an update alone
	ofState        // of the check after an update, and of one that isn't complete
)

// rules are all of them; each family stands in files of its own. The order is
// that of Rules and of Result.Evaluated.
var rules = slices.Concat(
	skewRules, hostProcessRules, proxyRules, registrationRules, inTreeRules, afterRules, nodeRules, admissionRules, updateRules, dataRules,
)

// Rules lists every rule.
func Rules() []Rule {
	list := make([]Rule, len(rules))
	for i := range rules {
		list[i] = rules[i].told()
	}
	return list
}

// told is the rule with what holds for all of its kind.
func (r *rule) told() Rule {
	told := r.Rule
	if r.starts {
		told.Text += "\n\nIt is silent where the driver is seen to start: the pods of the present template are all ready, and\nthe nodes' CSINodes list it."
	}
	return told
}

// Explain finds a rule by its ID.
func Explain(id string) (Rule, bool) {
	for i := range rules {
		if rules[i].ID == id {
			return rules[i].told(), true
		}
	}
	return Rule{}, false
}
