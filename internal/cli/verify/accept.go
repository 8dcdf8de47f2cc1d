package verify

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
)

// acceptedRules are the values of --accept with the rules' own spelling. A
// rule that doesn't exist would accept nothing without a word.
func acceptedRules(accept []string) ([]string, error) {
	ids := ruleIDs()
	var list []string
	for _, a := range accept {
		id, object, one := strings.Cut(a, "=")
		if id = strings.ToUpper(id); !slices.Contains(ids, id) {
			return nil, &fault.Error{What: "--accept " + a + ": there is no rule " + id, Fix: "one of " + strings.Join(ids, ", ")}
		}
		if one {
			id += "=" + object
		}
		list = append(list, id)
	}
	return list, nil
}

// needless are the rules of accept that no finding is of: it is fixed, or
// another object's. What is accepted is INFO, and what is INFO needs no accepting: its
// rule is no mistake.
func needless(accept []string, findings []finding.Finding) []string {
	return slices.DeleteFunc(slices.Clone(accept), func(rule string) bool {
		return slices.ContainsFunc(findings, func(f finding.Finding) bool {
			return f.Severity == finding.Info && (rule == f.ID || rule == f.ID+"="+f.Object)
		})
	})
}
