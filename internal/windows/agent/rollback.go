package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
)

// backTime is how long putting things back may take: it must go on when the
// person has given up.
const backTime = 5 * time.Minute

// giveUp puts everything back after cause and says so.
func (c *change) giveUp(ctx context.Context, cause error) error {
	c.Say("putting back what was there")
	if err := c.back(context.WithoutCancel(ctx)); err != nil {
		return &fault.Error{
			What:    "the change failed, and putting back what was there failed too",
			Excerpt: "change: " + firstLines(cause) + "\nputting back: " + firstLines(err),
			Fix:     "run the same command again: it goes on from the journal " + c.dir.journal(),
			Err:     errors.Join(cause, err),
		}
	}
	out := &fault.Error{What: cause.Error(), Fix: "fix that and run this again"}
	if f, ok := errors.AsType[*fault.Error](cause); ok {
		*out = *f
	}
	out.What, out.Err = out.What+"; the node is as it was", cause
	return out
}

func firstLines(err error) string { return strings.ReplaceAll(err.Error(), "\nfix: ", "; ") }

// recover puts back, or ends, a change that was cut short.
func (c *change) recover(ctx context.Context) error {
	j, err := readJSON[journal](c.dir.journal())
	if err != nil || j == nil {
		return err
	}
	c.j = j
	work, ended := c.back, "put back: "
	if j.Done {
		work, ended = func(context.Context) error { return c.finish() }, "ended: "
	}
	c.Say("an earlier change was cut short: " + j.String())
	if err := work(ctx); err != nil {
		return fmt.Errorf("put back or end what was cut short: %w", err)
	}
	c.result.Recovered, c.result.Changed = ended+j.String(), true
	return nil
}

// back makes files and services what the journal says they were. It looks at
// what is there and may be run any number of times, from any point.
func (c *change) back(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, backTime)
	defer cancel()
	services := c.j.Services
	if !c.j.Touched {
		services = nil
	}
	for _, s := range services {
		if s.Before == nil || s.Restart {
			if err := c.stop(ctx, s); err != nil {
				return err
			}
			c.step()
		}
	}
	for _, f := range c.j.Files {
		if err := backFile(ctx, f); err != nil {
			return err
		}
		c.step()
	}
	for _, s := range services {
		if err := c.backService(ctx, s); err != nil {
			return fmt.Errorf("put service %s back: %w", s.Name, err)
		}
		c.step()
	}
	if err := removeFolders(c.j.Folders, c.j.LogFolders); err != nil {
		return err
	}
	return remove(c.dir.journal())
}

// backFile: an old file under its other name says that the swap had begun.
func backFile(ctx context.Context, f fileChange) error {
	if err := remove(f.Path + newSuffix); err != nil {
		return err
	}
	if f.Old == "" {
		if hashFile(ctx, node.File{Path: f.Path}).SHA256.Value == f.New {
			return remove(f.Path)
		}
		return nil
	}
	if _, err := os.Lstat(f.Path + oldSuffix); err != nil {
		return nil //nolint:nilerr // it was never renamed
	}
	if err := os.Rename(f.Path+oldSuffix, f.Path); err != nil {
		return cantWrite(f.Path, err)
	}
	return nil
}

func (c *change) backService(ctx context.Context, s serviceChange) error {
	if s.Before == nil {
		return c.sys.Delete(ctx, s.Name)
	}
	_, err := c.sys.Set(*s.Before)
	switch {
	case errors.Is(err, ErrMarked) && !s.Ran:
		return nil // so it wasn't changed either, and goes by itself
	case err != nil:
		return err
	case !s.Ran:
		return nil
	}
	s.Pipes = s.PipesBefore
	return c.start(ctx, s)
}
