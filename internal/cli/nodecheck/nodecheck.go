// Package nodecheck is verify.exe, the small verify that runs on a Windows
// node: it checks the node against node.json, and carries out what bake and
// verify ask of it over SSH. It has no Kubernetes client, no registry client
// and no compiler in it.
package nodecheck

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/firstboot"
	"github.com/winbake/winbake/internal/windows/node"
)

// New returns the command.
func New(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "verify",
		Short: "Check a Windows node",
		Long: `This verify runs on a Windows node. It compares files, services and named pipes
with the expectation that bake payload wrote, /winbake/node.json in the image.`,
		Example: "  verify node --expect node.json",
	}
	root.AddCommand(newNode(a), newHash(a), newAgent(a))
	return root
}

type nodeOptions struct {
	expect, format string
	failOn         finding.FailOn
	accept         []string
	verbose        bool
	firstBoot      firstBootOptions
}

func newNode(a *app.App) *cobra.Command {
	o := nodeOptions{failOn: finding.DefaultFailOn}
	cmd := &cobra.Command{
		Use:   "node",
		Short: "Check this node's files, services and pipes",
		Long: `node asks this node for its files, services and pipes, and compares them with
node.json. It changes nothing. Its exit code is 0 if all is well, 3 if a check
failed, 4 if the node doesn't tell something, 1 if it couldn't run.

--first-boot is for a scheduled task in an image (bake template
--first-boot-check): it waits until Windows Setup has ended and services have
started, and leaves the result in a file and in the event log Application, from
the source winbake. Its event's ID is 100 if all is well, 101 if the check
couldn't run, 102 for WARN, 103 for BLOCK, 104 for UNKNOWN.`,
		Example: "  verify node --expect node.json\n  verify node --expect node.json -o json\n  verify node --expect node.json --accept WIN004\n  verify node --expect node.json --first-boot --wait 10m",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.firstBoot.checkFlags(cmd.Flags()); err != nil {
				return err
			}
			if o.firstBoot.on {
				return firstBoot(cmd.Context(), a, o)
			}
			return check(cmd.Context(), a, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.expect, "expect", node.FileName, "the expectation: node.json of the image's /winbake")
	f.StringVarP(&o.format, "output", "o", "text", "text, json or junit")
	f.Var(&o.failOn, "fail-on", "least severity that fails: block, unknown or warn")
	f.StringArrayVar(&o.accept, "accept", nil, "finding to accept, ID or ID=object; may be repeated")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list passed checks too")
	o.firstBoot.register(f)
	app.Choices(cmd, "output", report.Formats...)
	app.Choices(cmd, "fail-on", finding.FailOnNames...)
	return cmd
}

// look asks the node once.
func look(ctx context.Context, o nodeOptions) (*node.Facts, []finding.Finding, error) {
	e, err := readExpectation(o.expect)
	if err != nil {
		return nil, nil, err
	}
	sys, dirs, err := agent.Local()
	if err != nil {
		return nil, nil, err
	}
	facts := agent.Gather(ctx, sys, e, dirs, agent.GatherOptions{Version: app.Version()})
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return facts, finding.Accept(node.Compare(e, facts), o.accept), nil
}

func check(ctx context.Context, a *app.App, o nodeOptions) error {
	facts, found, err := look(ctx, o)
	if err != nil {
		return err
	}
	checked := fmt.Sprintf("%d files, %d services, %d pipes", len(facts.Files), len(facts.Services), len(facts.Pipes))
	if err := o.write(a, facts.Host, checked, found, report.Options{Color: o.format == "text" && a.Color(), Verbose: o.verbose}); err != nil {
		return err
	}
	return exit(o.failOn.ExitCode(found))
}

func (o *nodeOptions) write(a *app.App, host, checked string, found []finding.Finding, options report.Options) error {
	r := report.Report{Tool: "verify", Version: app.Version(), Subject: host, FailOn: o.failOn, Checked: checked, Findings: found}
	return report.Write(a.Stdout, o.format, r, options)
}

func exit(code int) error {
	if code == finding.ExitOK {
		return nil
	}
	return app.ExitCode(code)
}

func newHash(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:     "hash FILE...",
		Short:   "Print the sha256 of files, as sha256sum does",
		Example: `  verify hash C:\k\csi-proxy.exe`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range args {
				sum, _, err := agent.Sum(cmd.Context(), name)
				if err != nil {
					return fmt.Errorf("hash the file: %w", err)
				}
				fmt.Fprintf(a.Stdout, "%s  %s\n", sum, name)
			}
			return nil
		},
	}
}

type firstBootOptions struct {
	on     bool
	wait   time.Duration
	result string
}

func (o *firstBootOptions) register(f *pflag.FlagSet) {
	f.BoolVar(&o.on, "first-boot", false, "wait for Windows Setup and services, and leave the result in a file and the event log")
	f.DurationVar(&o.wait, "wait", 10*time.Minute, "with --first-boot: how long Setup may take, and services after it")
	f.StringVar(&o.result, "result", firstboot.ResultPath, "with --first-boot: the file for the result")
}

// checkFlags refuses flags that would do nothing.
func (o *firstBootOptions) checkFlags(f *pflag.FlagSet) error {
	for _, name := range []string{"wait", "result"} {
		if !o.on && f.Changed(name) {
			return &fault.Error{What: "--" + name + " does nothing without --first-boot", Fix: "add --first-boot, or leave --" + name + " out"}
		}
	}
	return nil
}

// every is the time between two looks at a machine that is still starting.
const every = 5 * time.Second

// firstBoot makes the check that nobody watches. What goes wrong is in its
// result too, wherever that can be written.
func firstBoot(ctx context.Context, a *app.App, o nodeOptions) error {
	sys, err := firstboot.Local()
	if err != nil {
		return err
	}
	record, err := firstboot.Run(ctx, sys, firstboot.Options{
		Verify: app.Version(), FailOn: o.failOn, Wait: o.firstBoot.wait, Every: min(every, max(o.firstBoot.wait/10, time.Millisecond)), Result: o.firstBoot.result,
		Check: func(ctx context.Context) (*firstboot.Check, error) {
			facts, found, err := look(ctx, o)
			if err != nil {
				return nil, err
			}
			return &firstboot.Check{Host: facts.Host, OS: facts.OS, Findings: found}, nil
		},
	})
	if err != nil {
		return err
	}
	if record.Error != "" {
		return &fault.Error{What: record.Error, Fix: "fix it, then: verify node --first-boot", Code: record.ExitCode}
	}
	if err := o.write(a, record.Host, "the node, at its first boot", record.Findings, report.Options{}); err != nil {
		return err
	}
	if record.EventLog != "" {
		return errors.New(record.EventLog)
	}
	return exit(record.ExitCode)
}
