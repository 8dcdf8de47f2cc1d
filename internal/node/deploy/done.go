package deploy

import (
	"fmt"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/node/agent"
	"github.com/winbake/winbake/internal/printable"
)

// Done is what a change of a node came to, as JSON has it too.
type Done struct {
	Node      string     `json:"node"`
	Verb      agent.Verb `json:"verb"`
	Reference string     `json:"reference,omitempty"`
	Uploaded  int        `json:"uploaded"`
	agent.Result
	Seconds float64 `json:"seconds"`
}

// Sentence is one line for people.
func (d *Done) Sentence() string { return d.Node + ": " + d.Work() }

// Work is the sentence without the node. What a node says may hold anything.
func (d *Done) Work() string {
	if !d.Changed {
		return fmt.Sprintf("nothing to %s", d.Verb)
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
	took := time.Duration(d.Seconds * float64(time.Second)).Round(10 * time.Millisecond)
	return fmt.Sprintf("%s in %s", strings.Join(parts, ", "), took)
}
