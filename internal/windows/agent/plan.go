package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// planner finds out what a request has to change. It changes nothing itself
// and refuses what can't end well.
type planner struct {
	*change
	all       []*Service
	processes []Process
	j         journal
	recorded  bool // what is installed is recorded as the journal would
}

// plan makes the journal of what is to be done. One without files and
// services is a node that is right already.
func (p *planner) plan(ctx context.Context) error {
	var err error
	if p.all, err = p.sys.Services(); err != nil {
		return fmt.Errorf("list the node's services: %w", err)
	}
	if p.processes, err = p.sys.Processes(); err != nil {
		return fmt.Errorf("list the node's processes: %w", err)
	}
	wicd, err := p.sys.Service(winsvc.WICDName)
	if err != nil {
		return fmt.Errorf("ask the service manager: %w", err)
	}
	if wicd != nil {
		return &fault.Error{
			What: "WMCO manages this node (the service " + winsvc.WICDName + " is there): it would undo the change within two minutes, or at the next bootstrap",
			Fix:  "put the payload into the operator's image: bake payload --base",
		}
	}
	old, err := readJSON[record](p.dir.record())
	if err != nil {
		return err
	}
	if p.Expectation == nil {
		return p.planRemoval(ctx, old)
	}
	if err := p.planFiles(ctx); err != nil {
		return err
	}
	for _, want := range p.Expectation.Services {
		if err := p.planService(ctx, want); err != nil {
			return err
		}
	}
	p.planFolders()
	p.planRecord(old)
	return p.checkInUse()
}

func (p *planner) planFiles(ctx context.Context) error {
	for i, facts := range hashAll(ctx, p.Expectation.Files) {
		want := p.Expectation.Files[i]
		sum := facts.SHA256.Value
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !facts.Exists.Known:
			return &fault.Error{Where: want.Path, What: "can't be read: " + facts.Exists.Reason(), Fix: "look at what is there, and who may read it"}
		case sum != want.SHA256:
			p.j.Files = append(p.j.Files, fileChange{Path: want.Path, Old: sum, New: want.SHA256})
		}
	}
	return nil
}

func (j *journal) changes(path string) bool {
	return slices.ContainsFunc(j.Files, func(f fileChange) bool { return node.SamePath(f.Path, path) })
}

func (p *planner) planService(ctx context.Context, want node.Service) error {
	if err := p.refuseRival(want); err != nil {
		return err
	}
	after := wanted(want)
	c := serviceChange{Name: want.Name, Pipes: want.Pipes, After: &after}
	s, err := p.sys.Service(want.Name)
	if err != nil {
		return fmt.Errorf("ask for service %s: %w", want.Name, err)
	}
	if s != nil {
		if c.Before, err = found(s); err != nil {
			return err
		}
		if path := programOf(s.Configuration); !node.SamePath(path, want.Path) {
			return &fault.Error{
				What: fmt.Sprintf("there is a service %s that starts %s, not %s", want.Name, path, want.Path),
				Fix:  fmt.Sprintf(`if nobody needs that program: sc.exe config %s binPath= "%s", and run this again`, want.Name, want.Path),
			}
		}
		after = onlyKnown(after, *c.Before)
		c.Ran = runs(s)
		c.Restart = p.j.changes(want.Path) || restarts(after, *c.Before)
	}
	// A manual one is left to the user who starts it.
	c.Idle = want.Start == winsvc.StartDisabled || want.Start == winsvc.StartManual && !c.Ran
	if s != nil && (c.Ran || c.Idle) && !c.Restart && same(after, *c.Before) {
		return nil
	}
	return p.surround(ctx, c, s)
}

// surround adds a change of a service, with what depends on the service and the
// pipes that it serves: an older program may have fewer of them than the new one.
func (p *planner) surround(ctx context.Context, c serviceChange, s *Service) error {
	var pid uint32
	if s != nil {
		// A service that is marked for deletion can neither be changed nor started
		// again: that is asked before anything is stopped.
		if _, err := p.sys.Set(Settings{Name: c.Name}); errors.Is(err, ErrMarked) {
			return markedFault(c.Name)
		}
		var err error
		if c.Dependents, err = p.sys.Dependents(c.Name); err != nil {
			p.note(fmt.Sprintf("which services depend on %s isn't told: %v", c.Name, err))
		}
		pid = s.PID
	}
	for _, pipe := range askAll(ctx, p.sys, c.Pipes) {
		switch owner := pipe.PID.Value; {
		case owner == 0:
		case owner == pid && c.Ran:
			c.PipesBefore = append(c.PipesBefore, pipe.Name)
		case c.After != nil && !(c.Restart && node.SamePath(pipe.Image, programOf(c.Before.Configuration))):
			// The first instance of a pipe is exclusive.
			return &fault.Error{What: fmt.Sprintf("the pipe %s is served by process %d, %s, and not by service %s", pipe.Name, owner, pipe.Image, c.Name),
				Fix: "find out what it is and end it (tasklist, taskkill /pid), then run this again"}
		}
	}
	p.j.Services = append(p.j.Services, c)
	return nil
}

func markedFault(name string) error {
	return &fault.Error{What: fmt.Sprintf("service %s is marked for deletion: something holds it open", name),
		Fix: "close services.msc, Event Viewer and Task Manager on the node, or restart it; then run this again", Err: ErrMarked}
}

// refuseRival refuses to set up a second owner of the same pipes.
func (p *planner) refuseRival(want node.Service) error {
	for _, r := range rivals(p.all, want) {
		start, told := r.Start.Get()
		if len(want.Pipes) == 0 || r.State == node.StateStopped && told && (start == winsvc.StartManual || start == winsvc.StartDisabled) {
			continue
		}
		return &fault.Error{
			What: fmt.Sprintf("service %s (%s) starts %s and would own the same pipes: whichever of the two starts later ends at once", r.Name, r.State, programOf(r.Configuration)),
			Fix:  fmt.Sprintf("sc.exe stop %s, then sc.exe config %s start= disabled", r.Name, r.Name),
		}
	}
	return nil
}

// checkInUse refuses to replace a program that something else than our
// services runs: it would go on with the old one, whose file couldn't go.
func (p *planner) checkInUse() error {
	for _, q := range p.processes {
		stopped := slices.ContainsFunc(p.j.Services, func(s serviceChange) bool {
			return s.Restart && node.SamePath(programOf(s.Before.Configuration), q.Image)
		})
		if p.j.changes(q.Image) && !stopped {
			return &fault.Error{Where: q.Image, What: fmt.Sprintf("the file is in use: process %d runs it", q.PID),
				Fix: fmt.Sprintf("stop what runs it, then run this again; or leave its component out with --only; tasklist /svc /fi \"PID eq %d\" names it", q.PID)}
		}
	}
	return nil
}

func (p *planner) planFolders() {
	for _, f := range p.j.Files {
		p.folders(filepath.Dir(f.Path))
	}
	for _, want := range p.Expectation.Services {
		if want.LogDirectory != "" && p.folders(want.LogDirectory) {
			p.j.LogFolders = append(p.j.LogFolders, want.LogDirectory)
		}
	}
}

// folders adds those that are missing, up to dir.
func (p *planner) folders(dir string) bool {
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) || slices.Contains(p.j.Folders, dir) || filepath.Dir(dir) == dir {
		return false
	}
	p.folders(filepath.Dir(dir))
	p.j.Folders = append(p.j.Folders, dir)
	return true
}

// planRecord is what is on the node afterwards and is ours to remove: all that
// the payload names, no matter who put it there first, and what is left of earlier
// payloads. Folders are ours only where we made them.
func (p *planner) planRecord(old *record) {
	e := *p.Expectation
	r := &record{Reference: p.Reference, Expectation: &e, Folders: p.j.Folders, LogFolders: p.j.LogFolders}
	if old != nil {
		for _, f := range old.Expectation.Files {
			if !slices.ContainsFunc(e.Files, func(g node.File) bool { return node.SamePath(f.Path, g.Path) }) {
				e.Files = append(slices.Clip(e.Files), f)
			}
		}
		for _, s := range old.Expectation.Services {
			if !slices.ContainsFunc(e.Services, func(t node.Service) bool { return strings.EqualFold(s.Name, t.Name) }) {
				e.Services = append(slices.Clip(e.Services), s)
			}
		}
		r.Folders, r.LogFolders = slices.Concat(old.Folders, r.Folders), slices.Concat(old.LogFolders, r.LogFolders)
		p.recorded = old.Reference == r.Reference && len(old.Expectation.Files) == len(e.Files) && len(old.Expectation.Services) == len(e.Services)
	}
	p.j.Record = r
}

// planRemoval takes away what the record names, as far as it is still what
// was put there.
func (p *planner) planRemoval(ctx context.Context, old *record) error {
	if old == nil {
		p.recorded = true
		p.note("nothing that verify.exe installed is on this node")
		return nil
	}
	for _, s := range old.Expectation.Services {
		if err := p.planServiceRemoval(ctx, s); err != nil {
			return err
		}
	}
	for i, facts := range hashAll(ctx, old.Expectation.Files) {
		was := old.Expectation.Files[i]
		sum, ok := facts.SHA256.Get()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok && facts.Exists.Reason() == "": // it is gone
		case !ok:
			p.note(fmt.Sprintf("%s stays: %s", was.Path, facts.SHA256.Reason()))
		case sum != was.SHA256:
			p.note(was.Path + " stays: it isn't the file that was installed")
		default:
			p.j.Files = append(p.j.Files, fileChange{Path: was.Path, Old: sum})
		}
	}
	return p.checkInUse()
}

func (p *planner) planServiceRemoval(ctx context.Context, was node.Service) error {
	s, err := p.sys.Service(was.Name)
	if err != nil {
		return fmt.Errorf("ask for service %s: %w", was.Name, err)
	}
	if s == nil {
		return nil
	}
	before, err := found(s)
	if err != nil {
		return err
	}
	if path := programOf(before.Configuration); !node.SamePath(path, was.Path) {
		p.note(fmt.Sprintf("service %s stays: it starts %s, not what was installed", was.Name, path))
		return nil
	}
	return p.surround(ctx, serviceChange{Name: was.Name, Before: before, Pipes: was.Pipes, Restart: true, Ran: runs(s)}, s)
}

// programOf is the program that a service starts.
func programOf(c node.Configuration) string {
	argv, err := winsvc.ParseCommand(c.Command.Value)
	if err != nil {
		return c.Command.Value
	}
	return argv[0]
}
