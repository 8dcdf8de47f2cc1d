package nodecheck

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/node/firstboot"
	"github.com/winbake/winbake/internal/report"
)

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
		return &fault.Error{What: record.Error, Fix: "mend it, then: verify node --first-boot", Code: record.ExitCode}
	}
	r := report.Report{Tool: "verify", Version: app.Version(), Subject: record.Host, FailOn: o.failOn, Checked: "the node, at its first boot", Findings: record.Findings}
	if err := report.Write(a.Stdout, o.format, r, report.Options{}); err != nil {
		return err
	}
	if record.EventLog != "" {
		return errors.New(record.EventLog)
	}
	if record.ExitCode != finding.ExitOK {
		return app.ExitCode(record.ExitCode)
	}
	return nil
}
