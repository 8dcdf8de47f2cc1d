package states

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata")

// groundsFile has a line for each state: its name, the verdict, the rules that are as
// loud as it, and the actions of its plan by when they are due. A right verdict on a
// wrong ground differs here.
const groundsFile = "testdata/grounds.txt"

type groundsList struct {
	want, got map[string]string
	order     []string
}

func readGrounds(t *testing.T) *groundsList {
	t.Helper()
	text, err := os.ReadFile(groundsFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	g := &groundsList{map[string]string{}, map[string]string{}, nil}
	for line := range strings.Lines(string(text)) {
		name, said, _ := strings.Cut(strings.TrimSpace(line), ": ")
		g.want[name] = said
	}
	return g
}

func (g *groundsList) compare(t *testing.T, name string, r *answer) {
	t.Helper()
	said := r.Verdict.String()
	if rules := grounds(r); rules != "" {
		said += " by " + rules
	}
	when := ""
	for _, s := range r.Steps {
		if at := fmt.Sprintf("%s of %d", s.When, s.Hop+1); at != when {
			when = at
			said += "; " + when + ":"
		}
		for _, a := range s.Actions {
			said += " " + a.Kind
		}
	}
	g.got[name], g.order = said, append(g.order, name)
	if want, ok := g.want[name]; !*update && (!ok || want != said) {
		t.Errorf("%s\nwant %s (go test ./test/cluster/states -run TestStates -update, if it is so)", said, want)
	}
}

func (g *groundsList) write(t *testing.T) {
	t.Helper()
	lines := make([]string, 0, len(g.order))
	for _, name := range g.order {
		lines = append(lines, name+": "+g.got[name])
	}
	slices.Sort(lines)
	if err := os.WriteFile(groundsFile, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
