package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
)

// backTime is how long putting things back may take: it must go on when the
// person has given up.
const backTime = 5 * time.Minute

// giveUp puts everything back after cause and says so.
func (c *change) giveUp(ctx context.Context, cause error) error {
	c.say("putting back what was there")
	if err := c.back(context.WithoutCancel(ctx)); err != nil {
		return &fault.Error{
			What:    "the change failed, and putting back what was there failed too",
			Excerpt: "change: " + firstLines(cause) + "\nputting back: " + firstLines(err),
			Fix:     "run the same command again: it goes on from the journal " + c.dirs.journal() + " on the node",
			Err:     errors.Join(cause, err),
		}
	}
	said := "; the node is as it was"
	if f, ok := errors.AsType[*fault.Error](cause); ok {
		again := *f
		again.What += said
		again.Err = cause
		return &again
	}
	return &fault.Error{What: cause.Error() + said, Fix: "fix that and run this again", Err: cause}
}

func firstLines(err error) string { return strings.ReplaceAll(err.Error(), "\nfix: ", "; ") }

// recover puts back, or ends, a change that was cut short.
func (c *change) recover(ctx context.Context) error {
	j, err := readJSON[journal](c.dirs.journal())
	if err != nil || j == nil {
		return err
	}
	c.j = j
	what := string(j.Verb) + " " + j.Reference
	if j.Done {
		c.say("ending what was cut short: " + what)
		c.result.Recovered, c.result.Changed = "ended: "+what, true
		return c.finish()
	}
	c.say("putting back what was cut short: " + what)
	if err := c.back(ctx); err != nil {
		return fmt.Errorf("put back what was cut short: %w", err)
	}
	c.result.Recovered, c.result.Changed = "put back: "+what, true
	return nil
}

// back makes files and services what the journal says they were. It looks at
// what is there and may be run any number of times, from any point.
func (c *change) back(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, backTime)
	defer cancel()
	if c.j.Touched {
		for _, s := range c.j.Services {
			if err := c.stopNew(ctx, s); err != nil {
				return err
			}
			c.step()
		}
	}
	for _, f := range c.j.Files {
		if err := backFile(f); err != nil {
			return err
		}
		c.step()
	}
	if c.j.Touched {
		for _, s := range c.j.Services {
			if err := c.backService(ctx, s); err != nil {
				return err
			}
			c.step()
		}
	}
	if err := removeFolders(c.j.Folders, c.j.LogFolders); err != nil {
		return err
	}
	return remove(c.dirs.journal())
}

// backFile: an old file under its other name says that the swap had begun.
func backFile(f fileChange) error {
	if err := remove(f.Path + newSuffix); err != nil {
		return cantWrite(f.Path, err)
	}
	if f.Old != "" {
		if _, err := os.Lstat(f.Path + oldSuffix); err != nil {
			return nil //nolint:nilerr // it was never renamed
		}
		if err := os.Rename(f.Path+oldSuffix, f.Path); err != nil {
			return cantReplace(f.Path, err)
		}
		return nil
	}
	if sum, _, err := Sum(context.Background(), f.Path); err == nil && sum == f.New {
		return remove(f.Path)
	}
	return nil
}

func (c *change) stopNew(ctx context.Context, s serviceChange) error {
	now, err := c.sys.Service(s.Name)
	if err != nil || now == nil {
		return err
	}
	if s.Before != nil && !s.Restart {
		return nil
	}
	return c.stop(ctx, s)
}

func (c *change) backService(ctx context.Context, s serviceChange) error {
	now, err := c.sys.Service(s.Name)
	if err != nil {
		return err
	}
	switch {
	case s.Before == nil && now == nil:
		return nil
	case s.Before == nil:
		return c.sys.Delete(ctx, s.Name)
	case now == nil:
		_, err = c.sys.Create(*s.Before)
	default:
		_, err = c.sys.Configure(*s.Before)
		if errors.Is(err, ErrMarked) && !s.Ran {
			return nil // so it wasn't changed either, and goes by itself
		}
	}
	if err != nil {
		return fmt.Errorf("put service %s back: %w", s.Name, err)
	}
	if !s.Ran {
		return nil
	}
	old := s
	old.After, old.Pipes = s.Before, s.PipesBefore
	if err := c.start(ctx, old); err != nil {
		return fmt.Errorf("start service %s again: %w", s.Name, err)
	}
	return nil
}
