package skew_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

// command is one of a program that remedies name, wherever it is.
var command = regexp.MustCompile(`\b(oc|skopeo|helm|git) (-n|get|adm|label|apply|delete|set|patch|rollout|describe|logs|auth|copy|inspect|template|clone)\b`)

var inBackticks = regexp.MustCompile("`[^`]*`")

// typable holds a remedy to commands that can be copied: each begins a line,
// and nothing but a command is on it. What prose only mentions is in backticks.
func typable(t *testing.T, f finding.Finding) {
	t.Helper()
	for line := range strings.SplitSeq(f.Remedy, "\n") {
		first := regexp.MustCompile(`^(oc|skopeo|git) `).MatchString(line)
		switch {
		case !first && command.MatchString(inBackticks.ReplaceAllString(line, "")):
			t.Errorf("%s: a command in the middle of a line: %s", f.ID, line)
		case first && regexp.MustCompile(`; |, | \(|&& oc`).MatchString(line):
			t.Errorf("%s: words behind a command: %s", f.ID, line)
		}
	}
}

// told is all that a finding asks for: its remedy, and the commands of its
// actions, a line each.
func told(f finding.Finding) string {
	lines := []string{f.Remedy}
	for _, a := range f.Actions {
		lines = append(lines, slices.Concat(a.Commands, a.Wait)...)
	}
	return strings.Join(lines, "\n")
}
