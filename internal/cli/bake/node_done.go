package bake

import (
	"fmt"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/node/agent"
	"github.com/winbake/winbake/internal/node/deploy"
	"github.com/winbake/winbake/internal/node/guest"
	"github.com/winbake/winbake/internal/printable"
)

// nodeDone is what a change of a node came to, for -o json.
type nodeDone struct {
	Node      string     `json:"node"`
	Verb      agent.Verb `json:"verb"`
	Reference string     `json:"reference,omitempty"`
	Uploaded  int        `json:"uploaded"`
	agent.Result
	Seconds float64 `json:"seconds"`
}

// tellNode says on stdout what was done.
func (t *tool) tellNode(verb agent.Verb, target guest.Target, im *deploy.Image, out *deploy.Outcome, took time.Duration, o *app.Output) error {
	r := out.Result
	for _, n := range r.Notes {
		t.Console.Emit(event.Event{Object: target.Host, Phase: event.Write, State: event.Warning, Message: n})
	}
	if r.Recovered != "" {
		t.note(target.Host, "an earlier change had been cut short; "+r.Recovered)
	}
	done := nodeDone{Node: target.String(), Verb: verb, Uploaded: out.Uploaded, Result: r, Seconds: took.Seconds()}
	if im != nil {
		done.Reference = im.Reference
	}
	return o.Write(t.Stdout, done, func() [][]string { return [][]string{{done.sentence(took)}} })
}

// sentence is one line for people. What a node says may hold anything.
func (d nodeDone) sentence(took time.Duration) string {
	if !d.Changed {
		return fmt.Sprintf("%s: nothing to %s", d.Node, d.Verb)
	}
	parts := []string{}
	for _, p := range []struct {
		n    int
		what string
	}{{d.Installed, "installed"}, {d.Replaced, "replaced"}, {d.Removed, "removed"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d files %s", p.n, p.what))
		}
	}
	for _, s := range d.Services {
		parts = append(parts, printable.Line(s))
	}
	if len(parts) == 0 {
		parts = append(parts, "recorded")
	}
	return fmt.Sprintf("%s: %s in %s", d.Node, strings.Join(parts, ", "), took.Round(10*time.Millisecond))
}
