package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
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

// running tells whether a service runs and its process lives.
func (c *change) running(name string) (*Service, bool, error) {
	s, err := c.sys.Service(name)
	if err != nil || s == nil {
		return s, false, err
	}
	ps, err := c.sys.Processes()
	if err != nil {
		return s, false, err
	}
	return s, s.State == node.StateRunning && runs(ps, s.PID), nil
}

// planRemoval takes away what the record names, as far as it is still what
// was put there.
func (p *planner) planRemoval(ctx context.Context, old *record) error {
	if old == nil {
		p.notes = append(p.notes, "nothing that bake installed is on this node")
		return nil
	}
	p.j.Folders, p.j.LogFolders = nil, nil
	for _, s := range old.Services {
		if err := p.planServiceRemoval(ctx, s); err != nil {
			return err
		}
	}
	var files []node.File
	for _, f := range old.Files {
		files = append(files, node.File{Path: f.Path})
	}
	for i, facts := range hashAll(ctx, files) {
		sum, ok := facts.SHA256.Get()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok && facts.Exists.Reason() == "": // it is gone
		case !ok:
			p.notes = append(p.notes, fmt.Sprintf("%s stays: %s", files[i].Path, facts.SHA256.Reason()))
		case sum != old.Files[i].New:
			p.notes = append(p.notes, fmt.Sprintf("%s stays: it isn't the file that was installed", files[i].Path))
		default:
			p.j.Files = append(p.j.Files, fileChange{Path: files[i].Path, Old: sum})
		}
	}
	return p.checkInUse()
}

func (p *planner) planServiceRemoval(ctx context.Context, old recorded) error {
	s, err := p.sys.Service(old.Name)
	if err != nil {
		return fmt.Errorf("ask for service %s: %w", old.Name, err)
	}
	if s == nil {
		return nil
	}
	before, err := found(s)
	if err != nil {
		return err
	}
	if path := programOf(before.Configuration); !node.SamePath(path, old.Program) {
		p.notes = append(p.notes, fmt.Sprintf("service %s stays: it starts %s, not what was installed", old.Name, path))
		return nil
	}
	if err := p.refuseMarked(old.Name); err != nil {
		return err
	}
	c := serviceChange{Name: old.Name, Program: old.Program, Before: &before, Pipes: old.Pipes, Restart: true}
	c.Ran = s.State != node.StateStopped && runs(p.processes, s.PID)
	p.surround(ctx, &c, s.PID)
	p.j.Services = append(p.j.Services, c)
	return nil
}
