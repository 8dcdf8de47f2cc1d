package verify

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/hosts"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/deploy"
	"github.com/winbake/winbake/internal/windows/guest"
	"github.com/winbake/winbake/internal/windows/node"
)

type nodeOptions struct {
	hosts    hosts.Flags
	expect   string
	file     string
	registry app.Registry
	only     []string
}

func newNode(t *tool) *cobra.Command {
	var o nodeOptions
	cmd := &cobra.Command{
		Use:  "node [IMAGE]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 1) == (o.expect != "") {
				return usage(cmd, "give an image or --expect, and not both")
			}
			return t.node(cmd.Context(), args, o)
		},
	}
	f := cmd.Flags()
	o.hosts.Register(f, "100%")
	f.StringVar(&o.expect, "expect", "", "the expectation, node.json, instead of an image")
	f.StringVarP(&o.file, "file", "f", "", "versions.yaml that says what an operator's own image is on a node")
	f.StringSliceVar(&o.only, "only", nil, "only these components and the services that run them")
	o.registry.Register(f, "the registry")
	return cmd
}

func (t *tool) node(ctx context.Context, args []string, o nodeOptions) error {
	targets, err := o.hosts.Targets(t.Stdin)
	if err != nil {
		return err
	}
	im, err := t.openExpectation(ctx, args, o)
	if err != nil {
		return err
	}
	exe, err := nodeExe(im)
	if err != nil {
		return err
	}
	o.hosts.Guest.Warn = t.warn
	ask := func(ctx context.Context, target guest.Target) (*node.Facts, error) {
		g, err := guest.Dial(ctx, target, o.hosts.Guest)
		if err != nil {
			return nil, err
		}
		defer g.Close() //nolint:errcheck // the facts are here
		return deploy.Check(ctx, g, exe, im.Expectation, func(s string) {
			t.Tell(target.Host, event.Verify, event.Note, s)
		})
	}
	all := hosts.Each(ctx, &o.hosts, targets, ask, nil)
	if len(all) > 1 {
		return t.finish(fleet(all, im.Expectation), func(found []finding.Finding) []string { return fleetTable(all, found) })
	}
	facts, err := all[0].Value, all[0].Err
	if err != nil {
		return err
	}
	return t.finish(report.Report{
		Subject:  targets[0].String(),
		Checked:  fmt.Sprintf("%d files, %d services, %d pipes", len(facts.Files), len(facts.Services), len(facts.Pipes)),
		Notes:    []string{asked(facts)},
		Findings: node.Compare(im.Expectation, facts),
	})
}

func (t *tool) warn(object, what string) {
	t.Tell(object, event.Verify, event.Warning, what)
}

func (t *tool) openExpectation(ctx context.Context, args []string, o nodeOptions) (*deploy.Image, error) {
	if o.expect == "" {
		im, err := deploy.OpenImage(ctx, args[0], t.load(o.registry), hosts.Stock(o.file, t.warn))
		if err != nil {
			return nil, err
		}
		defer im.Close() //nolint:errcheck // all that is needed of it was read
		return im, im.Only(o.only)
	}
	data, err := infile.Read(o.expect, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: o.expect, What: "the expectation can't be read: " + err.Error(), Fix: "bake payload --dir D writes it into D.winbake", Err: err}
	}
	e, err := node.Parse(data)
	if err != nil {
		return nil, err
	}
	im := &deploy.Image{Expectation: e}
	return im, im.Only(o.only)
}

// nodeExe is the node's verify.exe: the one that came in the image, or is beside
// this program.
func nodeExe(im *deploy.Image) ([]byte, error) {
	if im.Verify != nil {
		return im.Verify, nil
	}
	data, path, err := deploy.BesideProgram()
	if err != nil {
		return nil, &fault.Error{Where: path, What: "there is no verify.exe", Err: err,
			Fix: "put the node/verify.exe of this release's archive there, or bake node verify-exe --out " + shell.Word(path) + "; or check an image of bake payload --with-verify"}
	}
	return data, nil
}

// fleet is one report on several nodes: each finding's object begins with its node.
func fleet(all []hosts.Outcome[*node.Facts], e *node.Expectation) report.Report {
	r := report.Report{Subject: fmt.Sprintf("%d nodes", len(all)), Checked: fmt.Sprintf("%d files and %d services of each", len(e.Files), len(e.Services))}
	for _, o := range all {
		found, reason := []finding.Finding(nil), ""
		if o.Err == nil {
			found = node.Compare(e, o.Value)
		} else {
			reason = hosts.Reason(o.Err)
		}
		for _, f := range append(found, node.Reached(reason)) {
			f.Object = strings.TrimSpace(o.Target.String() + " " + f.Object)
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}

func fleetTable(all []hosts.Outcome[*node.Facts], found []finding.Finding) []string {
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 8, 2, ' ', 0)
	for _, o := range all {
		says := ""
		if o.Err == nil {
			says = asked(o.Value)
		}
		fmt.Fprintf(rows, "%s\t%s\t%s\n", o.Target, worstOf(found, o.Target.String()), says)
	}
	_ = rows.Flush() // a Builder takes all
	return strings.Split(strings.TrimRight(table.String(), "\n"), "\n")
}

// asked says which machine answered, and to whom.
func asked(f *node.Facts) string {
	return fmt.Sprintf("%s, %s, asked by verify.exe %s", f.Host, f.OS, f.Verify)
}

// worstOf is the verdict on one node.
func worstOf(found []finding.Finding, name string) finding.Severity {
	worst := finding.Pass
	for _, f := range found {
		if f.Accepted == "" && (f.Object == name || strings.HasPrefix(f.Object, name+" ")) {
			worst = max(worst, f.Severity)
		}
	}
	return worst
}
