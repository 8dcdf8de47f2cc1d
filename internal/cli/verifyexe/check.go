package verifyexe

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/node"
)

type checkOptions struct {
	format  string
	failOn  finding.FailOn
	accept  []string
	verbose bool
}

func newCheck(a *app.App) *cobra.Command {
	o := checkOptions{failOn: finding.DefaultFailOn}
	cmd := &cobra.Command{
		Use:   "check [NODE.JSON]",
		Short: "Check this node's files, services and pipes",
		Long: `check asks this node for its files, services and pipes, and compares them with
node.json. It changes nothing. Its exit code is 0 if all is well, 3 if a check
failed, 4 if the node doesn't tell something, 1 if it couldn't run.`,
		Example: "  verify node check node.json\n  verify node check node.json -o json\n  verify node check node.json --accept WIN004",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return check(cmd.Context(), a, args, o)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.format, "output", "o", "text", "text, json or junit")
	f.Var(&o.failOn, "fail-on", "least severity that fails: block, unknown or warn")
	f.StringArrayVar(&o.accept, "accept", nil, "finding to accept, ID or ID=object; may be repeated")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list passed checks too")
	app.Choices(cmd, "output", report.Formats...)
	app.Choices(cmd, "fail-on", finding.FailOnNames...)
	return cmd
}

func check(ctx context.Context, a *app.App, args []string, o checkOptions) error {
	e, err := readExpectation(append(args, node.FileName)[0])
	if err != nil {
		return err
	}
	sys, dirs, err := agent.Local()
	if err != nil {
		return err
	}
	facts := agent.Gather(ctx, sys, e, dirs, agent.GatherOptions{Version: app.Version()})
	if err := ctx.Err(); err != nil {
		return err
	}
	checked := fmt.Sprintf("%d files, %d services, %d pipes", len(facts.Files), len(facts.Services), len(facts.Pipes))
	return o.finish(a, facts.Host, checked, node.Compare(e, facts))
}

// finish prints the report, and ends with the code of what was found.
func (o *checkOptions) finish(a *app.App, host, checked string, found []finding.Finding) error {
	found = finding.Accept(found, o.accept)
	r := report.Report{Tool: "verify", Version: app.Version(), Subject: host, FailOn: o.failOn, Checked: checked, Findings: found}
	options := report.Options{Color: o.format == "text" && a.Color(), Verbose: o.verbose}
	if err := report.Write(a.Stdout, o.format, r, options); err != nil {
		return err
	}
	if code := o.failOn.ExitCode(found); code != finding.ExitOK {
		return app.ExitCode(code)
	}
	return nil
}
