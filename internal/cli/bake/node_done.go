package bake

import (
	"errors"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/cli/hosts"
	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/node/deploy"
	"github.com/winbake/winbake/internal/node/guest"
	"github.com/winbake/winbake/internal/printable"
)

func (c nodeChange) done(target guest.Target, out *deploy.Outcome, took time.Duration) *deploy.Done {
	r := out.Result
	for _, n := range r.Notes {
		c.warn(target.Host, n)
	}
	if r.Recovered != "" {
		c.note(target.Host, "an earlier change had been cut short; "+r.Recovered)
	}
	done := &deploy.Done{Node: target.String(), Verb: c.verb, Uploaded: out.Uploaded, Result: r, Seconds: took.Seconds()}
	if c.im != nil {
		done.Reference = c.im.Reference
	}
	return done
}

// ended tells of a node of several while others are still worked on.
func (c nodeChange) ended(o hosts.Outcome[*deploy.Done]) {
	if o.Err != nil {
		name := o.Target.String()
		c.warn(name, strings.TrimPrefix(o.Err.Error(), name+": "))
		return
	}
	c.Console.Emit(event.Event{Object: o.Target.Host, Phase: event.Write, State: event.Done})
}

// nodeEntry is one node of several, for -o json.
type nodeEntry struct {
	Node string `json:"node"`
	// Error is what went wrong; Done may be there all the same.
	Error string       `json:"error,omitempty"`
	Done  *deploy.Done `json:"done,omitempty"`
}

func (c nodeChange) table(all []hosts.Outcome[*deploy.Done]) error {
	entries, rows := []nodeEntry{}, [][]string{{"NODE", "OUTCOME"}}
	for _, o := range all {
		e := nodeEntry{Node: o.Target.String(), Done: o.Value}
		row := []string{e.Node, ""}
		if o.Value != nil {
			row[1] = o.Value.Work()
		}
		if o.Err != nil {
			e.Error = printable.Line(hosts.Reason(o.Err))
			if !errors.Is(o.Err, hosts.ErrSkipped) {
				e.Error = "failed: " + e.Error
			}
			row[1] = e.Error
		}
		entries, rows = append(entries, e), append(rows, row)
	}
	return c.o.output.Write(c.Stdout, entries, func() [][]string { return rows })
}
