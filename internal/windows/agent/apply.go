package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/windows/node"
)

// Apply carries out a request as a whole: when it returns an error, files and
// services are what they were, or, if putting them back failed too, the
// journal stays and the error says so. A change that was cut short before is
// put back or ended first.
func Apply(ctx context.Context, sys System, dir Dir, req *Request) (*Result, error) {
	if admin, err := sys.Administrator(); err != nil || !admin {
		return nil, &fault.Error{What: "this user is no administrator of the node", Fix: "run it as one", Err: err}
	}
	if err := os.MkdirAll(string(dir), 0o755); err != nil {
		return nil, cantWrite(string(dir), err)
	}
	c := &change{Request: req, sys: sys, dir: dir, step: func() {}, result: &Result{}}
	return c.result, c.apply(ctx)
}

// change is one request while it is carried out.
type change struct {
	*Request
	sys System
	dir Dir
	// step is called between any two things that are done to the node, for
	// tests to cut a change short there.
	step   func()
	j      *journal
	result *Result
}

func (c *change) note(s string) {
	if !slices.Contains(c.result.Notes, s) {
		c.result.Notes = append(c.result.Notes, s)
	}
}

func (c *change) did(s string) { c.result.Services = append(c.result.Services, s) }

func (c *change) apply(ctx context.Context) error {
	defer c.dir.leave()
	unlock, err := lock(ctx, c.dir.lock())
	if err != nil {
		return err
	}
	defer unlock()
	if err := c.recover(ctx); err != nil {
		return err
	}
	p := &planner{change: c}
	if err := p.plan(ctx); err != nil {
		return err
	}
	c.j = &p.j
	if len(p.j.Files)+len(p.j.Services)+len(p.j.Folders) == 0 && p.recorded {
		return nil
	}
	return c.run(ctx)
}

// run writes the journal and carries it out. On an error everything is put
// back, also when the context has ended.
func (c *change) run(ctx context.Context) error {
	if err := writeJSON(c.dir.journal(), c.j); err != nil {
		return err
	}
	c.step()
	err := c.forward(ctx)
	if err == nil {
		c.j.Done = true
		err = writeJSON(c.dir.journal(), c.j)
	}
	if err != nil {
		return c.giveUp(ctx, err)
	}
	c.result.Changed = true
	c.step()
	return c.finish()
}

// forward is the change itself. Up to the first stop, nothing that runs is
// touched.
func (c *change) forward(ctx context.Context) error {
	if err := c.prepare(ctx); err != nil {
		return err
	}
	c.j.Touched = true
	if err := writeJSON(c.dir.journal(), c.j); err != nil {
		return err
	}
	for _, s := range c.j.Services {
		if s.Restart {
			c.step()
			if err := c.stop(ctx, s); err != nil {
				return err
			}
		}
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
	if c.Expectation == nil {
		return nil
	}
	var files []node.File
	for _, f := range c.Expectation.Files {
		if c.j.changes(f.Path) {
			files = append(files, f)
		}
	}
	return c.Files.Each(ctx, files, func(f node.File, content io.Reader) error {
		defer c.step()
		c.Say("writing " + f.Path)
		return write(ctx, f, content)
	})
}

// write writes a file next to its target and checks its sum: what isn't what it
// should be never gets the target's name.
func write(ctx context.Context, f node.File, content io.Reader) error {
	out, err := os.OpenFile(f.Path+newSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return cantWrite(f.Path, err)
	}
	h := sha256.New()
	source := &stream.Source{R: stream.NewReader(ctx, content)}
	size, err := io.Copy(io.MultiWriter(out, h), source)
	err = errors.Join(err, out.Sync(), out.Close())
	switch sum := hex.EncodeToString(h.Sum(nil)); {
	case ctx.Err() != nil:
		return ctx.Err()
	case source.Err != nil:
		return &fault.Error{Where: f.Payload, What: "can't be read: " + source.Err.Error(), Fix: "bring the payload to the node again", Err: source.Err}
	case err != nil:
		return cantWrite(f.Path+newSuffix, err)
	case sum != f.SHA256:
		return &fault.Error{Where: f.Payload, What: fmt.Sprintf("the payload's file is damaged: it has %d bytes with sha256 %s, node.json says %d with %s", size, sum, f.Size, f.SHA256),
			Fix: "bring the payload to the node again"}
	}
	return nil
}

// swap puts the new file into the old one's place: the old one keeps its
// content under another name until all is done.
func (c *change) swap(f fileChange) error {
	if f.Old != "" {
		if err := os.Rename(f.Path, f.Path+oldSuffix); err != nil {
			return cantWrite(f.Path, err)
		}
		c.step()
	}
	if f.New == "" {
		c.result.Removed++
		return nil
	}
	if err := os.Rename(f.Path+newSuffix, f.Path); err != nil {
		return cantWrite(f.Path, err)
	}
	c.step()
	if f.Old != "" {
		c.result.Replaced++
	} else {
		c.result.Installed++
	}
	return nil
}

// finish cleans up after a change that is done. It may be run again.
func (c *change) finish() error {
	for _, f := range c.j.Files {
		if err := remove(f.Path + oldSuffix); err != nil {
			return err
		}
		c.step()
	}
	if err := c.writeRecord(); err != nil {
		return err
	}
	c.step()
	return remove(c.dir.journal())
}

// writeRecord replaces the record of what is installed, or removes it with the
// folders that it names.
func (c *change) writeRecord() error {
	if c.j.Record != nil {
		return writeJSON(c.dir.record(), c.j.Record)
	}
	old, err := readJSON[record](c.dir.record())
	if err != nil || old == nil {
		return err
	}
	if err := removeFolders(old.Folders, old.LogFolders); err != nil {
		return err
	}
	return remove(c.dir.record())
}

// lock keeps two changes of one node apart. The lock ends with the process
// that holds it, however that ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	type held struct {
		unlock func()
		err    error
	}
	locked := make(chan held, 1)
	go func() {
		unlock, err := lockedfile.MutexAt(path).Lock()
		locked <- held{unlock, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(lockTime):
		return nil, &fault.Error{Where: path, What: "another change of this node is under way", Fix: "wait until it has ended, then run this again"}
	case h := <-locked:
		if h.err != nil {
			return nil, cantWrite(path, h.err)
		}
		return h.unlock, nil
	}
}
