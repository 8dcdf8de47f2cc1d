// Package table has what package lint says and looks for, as far as it is data: the
// rules with their words, settings of Windows that scripts change, and attributes of
// Packer's builders. It looks at no template itself.
package table

import (
	"embed"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/finding"
)

//go:embed *.yaml
var files embed.FS

// read is a table of a file. One that can't be read is found by any test.
func read[T any](name string) func() []T {
	return sync.OnceValue(func() []T {
		var rows []T
		data, err := files.ReadFile(name)
		if err == nil {
			err = yaml.Unmarshal(data, &rows)
		}
		if err != nil {
			panic(err)
		}
		return rows
	})
}

// Rule is one thing that is looked at.
type Rule struct {
	ID       string
	Severity finding.Severity // at worst, but for UNKNOWN
	Title    string
	Why      string
	Remedy   string
}

// Rules are in the order of the documentation.
var Rules = read[Rule]("rules.yaml")

// RuleOf is the rule with this ID.
func RuleOf(id string) Rule {
	for _, r := range Rules() {
		if r.ID == id {
			return r
		}
	}
	panic("no such rule: " + id) // a slip of package lint's, found by any test
}

// Answer is how bad one kind of package answer's problems is.
type Answer struct {
	Kind        string
	Severity    finding.Severity
	Why, Remedy string // "" for the rule's own
}

var answers = read[Answer]("answers.yaml")

// AnswerOf is what is said of a kind, and whether it is a problem of this rule.
func AnswerOf(kind string) (Answer, bool) {
	for _, a := range answers() {
		if a.Kind == kind {
			return a, true
		}
	}
	return Answer{}, false
}
