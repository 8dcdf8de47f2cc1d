package bake

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/hosts"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/guest"
	"github.com/winbake/winbake/internal/windows/node"
)

type nodeOptions struct {
	hosts       hosts.Flags
	only        []string
	managed     bool
	registry    app.Registry
	file        string // versions.yaml, if it was named
	output      app.Output
	stop, start time.Duration
}

func newNode(t *tool) *cobra.Command {
	cmd := &cobra.Command{Use: "node"}
	cmd.AddCommand(
		nodeCommand(t, agent.Install, &cobra.Command{Use: "install IMAGE", Args: cobra.ExactArgs(1)}),
		nodeCommand(t, agent.Upgrade, &cobra.Command{Use: "upgrade IMAGE", Args: cobra.ExactArgs(1)}),
		nodeCommand(t, agent.Remove, &cobra.Command{Use: "remove"}),
		newVerifyExe(t),
	)
	return cmd
}

func nodeCommand(t *tool, verb agent.Verb, cmd *cobra.Command) *cobra.Command {
	o := nodeOptions{output: app.Output{Kinds: map[string]any{"NodeChange": &deploy.Done{}, "NodeChangeList": []nodeEntry{}}}}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("file") {
			o.file = t.file
		}
		return t.node(cmd.Context(), verb, strings.Join(args, ""), o)
	}
	f := cmd.Flags()
	f.SortFlags = false
	o.hosts.Register(f, "0")
	f.BoolVar(&o.managed, "managed", false, "change the node even if WMCO manages it")
	f.DurationVar(&o.stop, "stop-timeout", agent.DefaultTimes.Stop, "how long a service's process may take to end")
	f.DurationVar(&o.start, "start-timeout", agent.DefaultTimes.Start, "how long a service's pipes may take to answer")
	o.output.Register(cmd)
	if verb != agent.Remove {
		f.StringSliceVar(&o.only, "only", nil, "only these components and the services that run them")
		o.registry.Register(f, "the registry")
		app.Complete(cmd, "only", t.fromPins(componentNames))
	}
	return cmd
}

func (t *tool) node(ctx context.Context, verb agent.Verb, ref string, o nodeOptions) error {
	targets, err := o.hosts.Targets(t.Stdin)
	if err != nil {
		return err
	}
	if o.stop <= 0 || o.start <= 0 {
		return &fault.Error{What: "--stop-timeout and --start-timeout can't be zero or less", Fix: "--stop-timeout 1s ends a process that doesn't end by itself within that second"}
	}
	var im *deploy.Image
	if verb != agent.Remove {
		if im, err = deploy.OpenImage(ctx, ref, t.load(o.registry), hosts.Stock(o.file, t.warn)); err != nil {
			return err
		}
		defer im.Close() //nolint:errcheck // only read
		if err := im.Only(trimmed(o.only)); err != nil {
			return err
		}
	}
	exe, err := t.nodeExe(ctx, im)
	if err != nil {
		return err
	}
	o.hosts.Guest.Warn = t.warn
	c := nodeChange{t, verb, im, exe, o}
	all := hosts.Each(ctx, &o.hosts, targets, c.on, c.ended)
	if done, err := all[0].Value, all[0].Err; len(all) == 1 && done != nil {
		return errors.Join(o.output.Write(t.Stdout, done, func() [][]string { return [][]string{{done.Sentence()}} }), err)
	} else if len(all) == 1 {
		return err
	}
	return errors.Join(c.table(all), hosts.Failure(all))
}

type nodeChange struct {
	*tool
	verb agent.Verb
	im   *deploy.Image // nil for remove
	exe  []byte
	o    nodeOptions
}

// on changes one node. What was done may come with an error: the node isn't
// right all the same.
func (c nodeChange) on(ctx context.Context, target guest.Target) (*deploy.Done, error) {
	g, err := guest.Dial(ctx, target, c.o.hosts.Guest)
	if err != nil {
		return nil, err
	}
	defer g.Close() //nolint:errcheck // the work is done, or its error is told
	n := &deploy.Node{Guest: g, Exe: c.exe, Say: func(s string) { c.note(target.Host, s) }}
	var done *deploy.Done
	options := deploy.Options{Managed: c.o.managed, Times: agent.Times{Stop: c.o.stop, Start: c.o.start}}
	if c.verb == agent.Remove {
		done, err = n.Remove(ctx, options)
	} else {
		done, err = n.Install(ctx, c.verb, c.im, options)
	}
	if err != nil {
		return nil, err
	}
	done.Node = target.String()
	for _, note := range done.Notes {
		c.warn(target.Host, note)
	}
	if done.Recovered != "" {
		c.note(target.Host, "an earlier change had been cut short; "+done.Recovered)
	}
	if c.im == nil || !done.Changed {
		return done, nil
	}
	return done, c.afterwards(ctx, n, c.im, target)
}

// nodeExe is the verify.exe that came in the image, else that of this release: of
// its archive, which needs no Go, or built.
func (t *tool) nodeExe(ctx context.Context, im *deploy.Image) ([]byte, error) {
	if im != nil && im.Verify != nil {
		return im.Verify, nil
	}
	if data, _, err := deploy.BesideProgram(); err == nil && app.ReadBuild().Released {
		return data, nil
	}
	return t.readVerifyExe(ctx, buildOptions{})
}

func (t *tool) note(object, s string) {
	t.Tell(object, event.Write, event.Note, s)
}

// afterwards checks the node as it is now: what was done may be all right and
// the node still not be what it should.
func (t *tool) afterwards(ctx context.Context, n *deploy.Node, im *deploy.Image, target guest.Target) error {
	facts, err := n.Facts(ctx, im.Expectation, true)
	if err != nil {
		return err
	}
	found := node.Compare(im.Expectation, facts)
	worst := finding.Pass
	for _, f := range found {
		if f.Severity >= finding.Warn && f.ID != node.LogVersion { // written some seconds later
			t.Tell(target.Host, event.Verify, event.Warning, fmt.Sprintf("%s %s %s: %s", f.Severity, f.ID, f.Object, f.Observed))
			worst = max(worst, f.Severity)
		}
	}
	if worst < finding.Block {
		return nil
	}
	return &fault.Error{What: "the change was made, and the node isn't what it should be", Fix: "verify node IMAGE --ssh " + shell.Word(target.String()), Code: finding.ExitBlock}
}

// ended tells of a node of several while others are still worked on.
func (c nodeChange) ended(o hosts.Outcome[*deploy.Done]) {
	if o.Err != nil {
		name := o.Target.String()
		c.warn(name, fault.OneLine(strings.TrimPrefix(o.Err.Error(), name+": ")))
		return
	}
	c.Tell(o.Target.Host, event.Write, event.Done, "")
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
