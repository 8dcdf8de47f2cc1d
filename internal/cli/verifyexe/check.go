package verifyexe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/report"
	"github.com/winbake/winbake/internal/windows/agent"
	"github.com/winbake/winbake/internal/windows/imagecheck"
	"github.com/winbake/winbake/internal/windows/node"
)

type checkOptions struct {
	format  string
	failOn  finding.FailOn
	accept  []string
	verbose bool
	facts   bool
	beside  bool
	every   time.Duration
	// image asks for the check of an image before sysprep, for a profile.
	image   bool
	profile string
}

func newCheck(a *app.App) *cobra.Command {
	o := checkOptions{failOn: finding.DefaultFailOn}
	cmd := &cobra.Command{
		Use:   "check [PAYLOAD]",
		Short: "Check this node's files, services and pipes, or an image before sysprep",
		Long: `check asks this node for its files, services and pipes, and compares them with
what was installed; or with PAYLOAD, a payload on this machine or its node.json.
It changes nothing. Its exit code is 0 if all is well, 3 if a check failed, 4 if
the node doesn't tell something, 1 if it couldn't run.

--image is for the guest in which an image is made, as the last step before
sysprep: it asks Windows whether it is what a node's image has to be, its
services, firewall, SSH, updates, and what the build left. With PAYLOAD it
compares the payload's files and services too.

--every repeats the check until it is stopped, also if it finds something: for a
DaemonSet's pods, whose log it is.`,
		Example: "  verify.exe node check\n  verify.exe node check D:\\payload -o json\n  verify.exe node check node.json --accept WIN004\n  verify.exe node check --image --profile openshift -o json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("profile") && !o.image {
				return &fault.Error{What: "--profile does nothing without --image", Fix: "add --image, or leave --profile out"}
			}
			name, err := named(args, o.beside)
			if err != nil {
				return err
			}
			once := check
			if o.image {
				once = checkImage
			}
			if o.every == 0 {
				return once(cmd.Context(), a, name, o)
			}
			return repeat(cmd.Context(), o.every, func() {
				err := once(cmd.Context(), a, name, o)
				if _, found := errors.AsType[app.ExitCode](err); err != nil && !found && cmd.Context().Err() == nil {
					a.Console.Fail(err)
				}
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.format, "output", "o", "text", "text, json or junit")
	f.Var(&o.failOn, "fail-on", "least severity that fails: block, unknown or warn")
	f.StringArrayVar(&o.accept, "accept", nil, "finding to accept, ID or ID=object; may be repeated")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list passed checks too")
	f.BoolVar(&o.facts, "facts", false, "print what the node says of itself, as JSON, and judge nothing")
	_ = f.MarkHidden("facts") // for package deploy
	besideFlag(cmd, &o.beside)
	f.DurationVar(&o.every, "every", 0, "check again after this time, until stopped")
	f.BoolVar(&o.image, "image", false, "check the image that is made of this machine, before sysprep")
	f.StringVar(&o.profile, "profile", imagecheck.OpenShift, "with --image: openshift for nodes of the Windows Machine Config Operator, generic for others")
	app.Choices(cmd, "profile", imagecheck.Profiles...)
	app.Choices(cmd, "output", report.Formats...)
	app.Choices(cmd, "fail-on", finding.FailOnNames...)
	return cmd
}

// repeat does something at once, and then at intervals until it is stopped.
func repeat(ctx context.Context, every time.Duration, do func()) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		do()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

func check(ctx context.Context, a *app.App, name string, o checkOptions) error {
	facts, found, err := compare(ctx, name)
	if err != nil {
		return err
	}
	if o.facts {
		return json.NewEncoder(a.Stdout).Encode(facts)
	}
	checked := fmt.Sprintf("%d files, %d services, %d pipes", len(facts.Files), len(facts.Services), len(facts.Pipes))
	return o.finish(a, facts.Host, checked, found)
}

// compare asks this node what it should be.
func compare(ctx context.Context, name string) (*node.Facts, []finding.Finding, error) {
	sys, dir, err := agent.Local()
	if err != nil {
		return nil, nil, err
	}
	e, err := expectation(ctx, name, dir)
	if err != nil {
		return nil, nil, err
	}
	facts := agent.Gather(ctx, sys, e, dir)
	return facts, node.Compare(e, facts), ctx.Err()
}

// checkImage asks Windows what an image needs, and compares the payload if it is named.
func checkImage(ctx context.Context, a *app.App, name string, o checkOptions) error {
	w, err := imagecheck.Local(ctx)
	if err != nil {
		return err
	}
	found, err := imagecheck.Check(w, o.profile)
	if err != nil {
		return err
	}
	if name != "" {
		_, more, err := compare(ctx, name)
		if err != nil {
			return err
		}
		found = append(found, more...)
	}
	host, _ := os.Hostname() // without a name, the report goes without
	if err := ctx.Err(); err != nil {
		return err
	}
	return o.finish(a, host, fmt.Sprintf("%d rows, profile %s", len(found), o.profile), found)
}

// expectation is what this node should be: what a payload or a node.json says, or
// what was installed.
func expectation(ctx context.Context, name string, dir agent.Dir) (*node.Expectation, error) {
	if name == "" {
		e, err := agent.Installed(dir)
		if err == nil && e == nil {
			err = &fault.Error{What: "nothing that verify.exe installed is on this node", Fix: "name what it should be: verify.exe node check PAYLOAD or NODE.JSON"}
		}
		return e, err
	}
	if filepath.Ext(name) != ".json" {
		im, err := openPayload(ctx, name)
		if err != nil {
			return nil, err
		}
		return im.Expectation, im.Close()
	}
	data, err := infile.Read(name, infile.Text)
	if err != nil {
		return nil, &fault.Error{Where: name, What: "can't be read: " + err.Error(), Fix: "bake payload --dir D writes it into D.winbake", Err: err}
	}
	return node.Parse(data)
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
