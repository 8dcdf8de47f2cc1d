package firstboot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/winbake/winbake/internal/base/finding"
)

// System is the machine that boots.
type System interface {
	// Setup reports whether Windows Setup has ended; if it hasn't, state is
	// what it says of itself.
	Setup() (done bool, state string, err error)
	// Log writes into the event log.
	Log(level Level, id uint32, text string) error
}

// Check is one look at the machine.
type Check struct {
	Host, OS string
	Findings []finding.Finding
}

// Options say what is looked at, and for how long.
type Options struct {
	// Verify is the version of this program.
	Verify string
	// FailOn decides the exit code, as in every other check.
	FailOn finding.FailOn
	// Check looks once. Its error ends the run.
	Check func(context.Context) (*Check, error)
	// Wait bounds how long Windows Setup may take, and after that how long
	// services may.
	Wait time.Duration
	// Every is the time between two looks.
	Every time.Duration
	// Result is the file that the record goes to.
	Result string
}

// Run waits, looks, and leaves the record behind. The record is there whatever
// happened; the error says that the file couldn't be written, or is ctx's, and
// then nothing was left.
func Run(ctx context.Context, sys System, o Options) (*Record, error) {
	r := &Record{APIVersion: APIVersion, Verify: o.Verify, Findings: []finding.Finding{}}
	err := o.settle(ctx, sys)
	if err == nil {
		err = o.look(ctx, r)
	}
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if r.Outcome = finding.Worst(r.Findings).String(); err != nil {
		r.Outcome, r.Error, r.ExitCode = Failed, err.Error(), finding.ExitError
	} else {
		r.ExitCode = o.FailOn.ExitCode(r.Findings)
	}
	r.Time = time.Now().UTC().Truncate(time.Second)
	level, id := r.Event()
	if err := sys.Log(level, id, r.Text(o.Result)); err != nil {
		// A check that nobody hears of isn't one that passed.
		r.EventLog, r.ExitCode = err.Error(), max(r.ExitCode, finding.ExitError)
	}
	return r, r.Write(o.Result)
}

// settle waits for Windows Setup: until it has ended, services aren't all
// started, and the machine doesn't have its name.
func (o *Options) settle(ctx context.Context, sys System) error {
	return o.until(ctx, func(late bool) (bool, error) {
		done, state, err := sys.Setup()
		switch {
		case err == nil && done:
			return true, nil
		case !late:
			return false, nil
		case err == nil:
			return false, fmt.Errorf("after %s Windows Setup hasn't ended: %s", o.Wait, state)
		}
		return false, fmt.Errorf("ask whether Windows Setup has ended: %w", err)
	})
}

// look looks until nothing is wrong: services start one after the other, and
// some of them late.
func (o *Options) look(ctx context.Context, r *Record) error {
	return o.until(ctx, func(late bool) (bool, error) {
		c, err := o.Check(ctx)
		if err != nil {
			return false, err
		}
		r.Host, r.OS = c.Host, c.OS
		r.Findings = slices.DeleteFunc(slices.Clone(c.Findings), func(f finding.Finding) bool { return f.Severity == finding.Pass })
		return late || finding.Worst(c.Findings) < finding.Unknown, nil
	})
}

// until asks again and again whether something is done. late says that the time is up.
func (o *Options) until(ctx context.Context, done func(late bool) (bool, error)) error {
	for end := time.Now().Add(o.Wait); ; {
		ok, err := done(time.Now().After(end))
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(o.Every):
		}
	}
}
