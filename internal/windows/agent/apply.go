package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
)

// Apply carries out a request as a whole: when it returns an error, files and
// services are what they were, or, if putting them back failed too, the
// journal stays and the error says so. A change that was cut short before is
// put back or ended first.
//
// say is told what is being done, one sentence at a time.
func Apply(ctx context.Context, sys System, dirs Dirs, req *Request, say func(string)) (*Result, error) {
	if req.Protocol != node.Protocol {
		return nil, ProtocolFault(req.Protocol, node.Protocol)
	}
	if admin, err := sys.Administrator(); err != nil || !admin {
		return nil, NotAdministrator()
	}
	if err := os.MkdirAll(dirs.State, 0o755); err != nil {
		return nil, cantWrite(dirs.State, err)
	}
	c := &change{sys: sys, dirs: dirs, times: req.Times, say: say, step: func() {}, result: &Result{}}
	return c.apply(ctx, req)
}

func (c *change) apply(ctx context.Context, req *Request) (*Result, error) {
	if c.times == (Times{}) {
		c.times = DefaultTimes
	}
	if err := c.locked(ctx, req); err != nil {
		c.dirs.leave()
		return nil, err
	}
	c.tidy(req)
	return c.result, nil
}

// locked does the work while no other change may.
func (c *change) locked(ctx context.Context, req *Request) error {
	unlock, err := lock(ctx, filepath.Join(c.dirs.State, lockName))
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.recover(ctx); err != nil {
		return err
	}
	p := &planner{sys: c.sys, dirs: c.dirs, req: req}
	if err := p.plan(ctx); err != nil {
		return err
	}
	c.j, c.result.Notes = &p.j, append(c.result.Notes, p.notes...)
	if c.idle() {
		return nil
	}
	return c.run(ctx)
}

// NotAdministrator refuses a user who may not change services.
func NotAdministrator() error {
	return &fault.Error{What: "this user is no administrator of the node", Fix: "log in as one: --ssh Administrator@HOST"}
}

// ProtocolFault says that the two sides are of different releases.
func ProtocolFault(theirs, ours int) error {
	return &fault.Error{What: fmt.Sprintf("bake speaks protocol %d and verify.exe %d", theirs, ours),
		Fix: "use a payload of this release: bake payload --with-verify"}
}

// idle tells whether the node is right already, record and all.
func (c *change) idle() bool {
	if len(c.j.Files)+len(c.j.Services)+len(c.j.Folders) > 0 {
		return false
	}
	old, err := readJSON[record](c.dirs.record())
	if err != nil {
		return false
	}
	if c.j.Verb == Remove {
		return old == nil
	}
	return old != nil && old.Reference == c.j.Record.Reference && len(old.Files) == len(c.j.Record.Files) && len(old.Services) == len(c.j.Record.Services)
}

// run writes the journal and carries it out. On an error everything is put
// back, also when the context has ended.
func (c *change) run(ctx context.Context) error {
	if err := writeJSON(c.dirs.journal(), c.j); err != nil {
		return cantWrite(c.dirs.journal(), err)
	}
	c.step()
	err := c.forward(ctx)
	if err == nil {
		c.j.Done = true
		if err = writeJSON(c.dirs.journal(), c.j); err == nil {
			c.result.Changed = true
			c.step()
			return c.finish()
		}
	}
	return c.giveUp(ctx, err)
}

// forward is the change itself. Up to the first stop, nothing that runs is
// touched.
func (c *change) forward(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	c.j.Touched = true
	if err := writeJSON(c.dirs.journal(), c.j); err != nil {
		return cantWrite(c.dirs.journal(), err)
	}
	for _, s := range c.j.Services {
		if s.Restart {
			c.step()
			if err := c.stop(ctx, s); err != nil {
				return err
			}
		}
	}
	if err := c.checkPipesGone(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, f := range c.j.Files {
		if err := c.swap(f); err != nil {
			return err
		}
	}
	for _, s := range c.j.Services {
		c.step()
		if err := c.settle(ctx, s); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, s := range c.j.Services {
		if s.After != nil && !s.Idle {
			c.step()
			if err := c.start(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// prepare makes folders and puts each new file next to its target, checked.
func (c *change) prepare(ctx context.Context) error {
	for _, d := range c.j.Folders {
		if err := os.Mkdir(d, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			return cantWrite(d, err)
		}
		c.step()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(unpackers)
	for _, f := range c.j.Files {
		if f.New != "" {
			c.say("unpacking " + f.Path)
			group.Go(func() error { return unpack(ctx, c.dirs.Stage, f) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	c.step()
	return nil
}

// unpackers is how many files are unpacked at once: one core hashes more
// slowly than a disk writes.
const unpackers = 4

// swap puts the new file into the old one's place: the old one keeps its
// content under another name until all is done.
func (c *change) swap(f fileChange) error {
	if f.Old != "" {
		if err := os.Rename(f.Path, f.Path+oldSuffix); err != nil {
			return cantReplace(f.Path, err)
		}
		c.step()
	}
	if f.New == "" {
		c.result.Removed++
		return nil
	}
	if err := os.Rename(f.Path+newSuffix, f.Path); err != nil {
		return cantReplace(f.Path, err)
	}
	c.step()
	if f.Old != "" {
		c.result.Replaced++
	} else {
		c.result.Installed++
	}
	return nil
}

func cantReplace(path string, err error) error {
	if inUse(err) {
		return &fault.Error{Where: path, What: "the file is in use: " + err.Error(), Fix: "find out who holds it open, end that, and run this again", Err: err}
	}
	return cantWrite(path, err)
}

// finish cleans up after a change that is done. It may be run again.
func (c *change) finish() error {
	for _, f := range c.j.Files {
		if err := remove(f.Path + oldSuffix); err != nil {
			return cantWrite(f.Path+oldSuffix, err)
		}
		c.step()
	}
	if c.j.Record == nil {
		if err := c.removeFolders(); err != nil {
			return err
		}
		if err := remove(c.dirs.record()); err != nil {
			return cantWrite(c.dirs.record(), err)
		}
	} else if err := writeJSON(c.dirs.record(), c.j.Record); err != nil {
		return cantWrite(c.dirs.record(), err)
	}
	c.step()
	if err := remove(c.dirs.journal()); err != nil {
		return cantWrite(c.dirs.journal(), err)
	}
	return nil
}

// removeFolders takes away the folders that we made: log folders with what
// is in them, the others if nothing is.
func (c *change) removeFolders() error {
	old, err := readJSON[record](c.dirs.record())
	if err != nil || old == nil {
		return err
	}
	return removeFolders(old.Folders, old.LogFolders)
}

func removeFolders(folders, logs []string) error {
	for _, d := range logs {
		if err := removeAll(d); err != nil {
			return cantWrite(d, err)
		}
	}
	for _, d := range slices.Backward(folders) {
		_ = os.Remove(d) // somebody else's files are in it
	}
	return nil
}

// lock keeps two changes of one node apart. The lock ends with the process
// that holds it, however that ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, cantWrite(path, err)
	}
	ok, err := wait(ctx, lockTime, func() (bool, error) { return tryLock(f) })
	if err == nil && !ok {
		err = &fault.Error{Where: path, What: "another change of this node is under way", Fix: "wait until it has ended, then run this again"}
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
