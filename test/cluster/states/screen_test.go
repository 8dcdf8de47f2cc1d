package states

import (
	"strings"
	"testing"
)

// TestFirstScreen: the text names each act before the update, with its commands in full.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	acts, all := 0, states()
	for i := range all {
		s := &all[i]
		asked := s.asked(t, t.TempDir())
		steps := steps(t, asked)
		out := run(t, append([]string{"skew"}, asked...)...).stdout
		for _, step := range steps {
			if step.When != "before" || step.Hop > 0 {
				continue
			}
			for _, a := range step.Actions {
				for _, line := range a.Commands {
					acts++
					if first, _, _ := strings.Cut(strings.TrimSpace(line), "\n"); !strings.Contains(out, first) {
						t.Errorf("%s: %s isn't in\n%s", s.name, line, out)
					}
				}
			}
		}
	}
	t.Logf("%d commands before the update, in %d states", acts, len(all))
}
