// Package imagecheck is the check of a golden image, made in the guest as the
// last step before sysprep: is this Windows what a node's image has to be?
//
// All checks are rows of one table, [Table]: what Windows is asked, what is right
// for each profile, why, and where that is written. What is asked stands behind
// [Windows], whose real one is in local_windows.go. The package changes nothing.
package imagecheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
)

// Check asks all rows of a profile.
func Check(w Windows, profile string) ([]finding.Finding, error) {
	if !slices.Contains(Profiles, profile) {
		return nil, &fault.Error{What: fmt.Sprintf("there is no profile %q", profile), Fix: "give one of " + strings.Join(Profiles, ", ")}
	}
	maker, err := manufacturer(w)
	var found []finding.Finding
	for _, r := range Table {
		severity := r.severity(profile, maker)
		switch {
		case severity == finding.Pass:
		case r.On == "" || strings.HasPrefix(maker, r.On):
			found = append(found, r.judge(w, severity))
		case err != nil:
			found = append(found, r.unanswered(severity, fmt.Errorf("who made this machine: %w", err)))
		}
	}
	return found, nil
}

func (r Row) judge(w Windows, severity finding.Severity) finding.Finding {
	q := &asked{Windows: w}
	a := r.Ask(q)
	if q.err != nil {
		return r.unanswered(severity, q.err)
	}
	f := finding.Finding{ID: r.ID, Object: r.Object, Observed: a.Observed, Expected: r.Expected, Source: r.Source}
	if a.Wrong {
		f.Severity, f.Why, f.Remedy = severity, r.Why, r.Fix
	}
	return f
}

// unanswered: a check that only warns fails no build for want of an answer.
func (r Row) unanswered(severity finding.Severity, err error) finding.Finding {
	return finding.Finding{ID: r.ID, Object: r.Object, Severity: min(severity, finding.Unknown), Observed: "Windows didn't answer: " + err.Error(),
		Expected: r.Expected, Why: r.Why, Remedy: "look yourself, then accept the finding: --accept " + r.ID, Source: r.Source}
}
