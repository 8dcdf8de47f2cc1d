package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/skew"
)

// acceptedRules are the values of --accept with the rules' own spelling. A
// rule that doesn't exist would accept nothing without a word.
func acceptedRules(accept []string) ([]string, error) {
	ids := ruleIDs()
	var list []string
	for _, a := range accept {
		id, object, one := strings.Cut(a, "=")
		id = strings.ToUpper(id)
		if _, gone := skew.ExplainRetired(id); !gone && !slices.Contains(ids, id) {
			return nil, &fault.Error{What: "--accept " + a + ": there is no rule " + id, Fix: "one of " + strings.Join(ids, ", ")}
		}
		if one {
			id += "=" + object
		}
		list = append(list, id)
	}
	return list, nil
}

// needless says which rules of accept no finding is of: it is fixed, or another
// object's, or the rule is retired. What is accepted is INFO, and what is INFO
// needs no accepting: its rule is no mistake.
func needless(accept []string, findings []finding.Finding) (notes []string) {
	for _, rule := range accept {
		id, _, _ := strings.Cut(rule, "=")
		if _, gone := skew.ExplainRetired(id); gone {
			notes = append(notes, fmt.Sprintf("--accept %s can be left out: the rule is retired (verify skew --explain %s)", rule, id))
			continue
		}
		if !slices.ContainsFunc(findings, func(f finding.Finding) bool {
			return f.Severity == finding.Info && (rule == f.ID || rule == f.ID+"="+f.Object)
		}) {
			notes = append(notes, fmt.Sprintf("--accept %s: there is no such finding", rule))
		}
	}
	return notes
}
