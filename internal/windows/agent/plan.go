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
	sys       System
	dirs      Dirs
	req       *Request
	processes []Process
	managed   bool // by WMCO, and it's to be changed all the same
	j         journal
	notes     []string
}

// plan returns the journal of what is to be done. One without files and
// services is a node that is right already.
func (p *planner) plan(ctx context.Context) error {
	p.j = journal{Verb: p.req.Verb, Reference: p.req.Reference}
	if err := p.mayChange(); err != nil {
		return err
	}
	var err error
	if p.processes, err = p.sys.Processes(); err != nil {
		return fmt.Errorf("list the node's processes: %w", err)
	}
	old, err := readJSON[record](p.dirs.record())
	if err != nil {
		return err
	}
	if p.req.Verb == Remove {
		return p.planRemoval(ctx, old)
	}
	if err := p.planFiles(ctx); err != nil {
		return err
	}
	for _, want := range p.req.Expectation.Services {
		if err := p.planService(ctx, want); err != nil {
			return err
		}
	}
	if err := p.checkInUse(); err != nil {
		return err
	}
	p.planFolders()
	p.planRecord(old)
	return p.checkSpace()
}

// mayChange refuses a node that isn't ours to change.
func (p *planner) mayChange() error {
	s, err := p.sys.Service(winsvc.WICDName)
	if err != nil {
		return fmt.Errorf("ask the service manager: %w", err)
	}
	if s != nil && !p.req.Managed {
		return ManagedFault()
	}
	p.managed = s != nil
	return nil
}

// ManagedFault refuses a node that WMCO manages.
func ManagedFault() error {
	return &fault.Error{
		What: "WMCO manages this node (the service " + winsvc.WICDName + " is there): its daemon puts csi-proxy's command back within two minutes, " +
			"and at the next bootstrap WMCO deletes the service and replaces every file that isn't its own payload's",
		Fix: "put the payload into the operator's image (bake payload --base), or pass --managed to do it all the same",
	}
}

func (p *planner) planFiles(ctx context.Context) error {
	for i, facts := range hashAll(ctx, p.req.Expectation.Files) {
		want := p.req.Expectation.Files[i]
		exists, ok := facts.Exists.Get()
		sum, _ := facts.SHA256.Get()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !ok:
			return &fault.Error{Where: want.Path, What: "can't be read: " + facts.Exists.Reason(), Fix: "look at what lies there, and who may read it"}
		case exists && sum == want.SHA256:
			continue
		case exists && p.sys.ReadOnly(want.Path):
			return &fault.Error{Where: want.Path, What: "the file is read-only", Fix: "attrib -r \"" + want.Path + "\" on the node, if it may be replaced"}
		}
		p.j.Files = append(p.j.Files, fileChange{Path: want.Path, Old: sum, New: want.SHA256, Size: want.Size})
	}
	return nil
}

func (p *planner) changes(path string) bool {
	return slices.ContainsFunc(p.j.Files, func(f fileChange) bool { return node.SamePath(f.Path, path) })
}

func (p *planner) planService(ctx context.Context, want node.Service) error {
	if err := p.refuseRival(want); err != nil {
		return err
	}
	s, err := p.sys.Service(want.Name)
	if err != nil {
		return fmt.Errorf("ask for service %s: %w", want.Name, err)
	}
	after := wanted(want)
	c := serviceChange{Name: want.Name, Program: want.Path, Pipes: want.Pipes, Idle: p.idle(want, false)}
	if s == nil {
		if p.req.Verb == Upgrade {
			return &fault.Error{What: "service " + want.Name + " isn't there to be upgraded", Fix: "bake node install with the same image"}
		}
		c.After = &after
		p.j.Services = append(p.j.Services, c)
		return nil
	}
	before, err := found(s)
	if err != nil {
		return err
	}
	if err := p.refuseForeign(want, before); err != nil {
		return err
	}
	after = onlyKnown(after, before)
	if p.managed {
		after.Description = node.Told[string]{} // WMCO's daemon writes its own
	}
	c.Before, c.After = &before, &after
	c.Ran = s.State != node.StateStopped && runs(p.processes, s.PID)
	c.Restart = p.changes(want.Path) || !equal(after.Command, before.Command, node.SameCommand) || !equal(after.Environment, before.Environment, sameNames)
	c.Idle = p.idle(want, c.Ran)
	asIs := c.Ran && s.State == node.StateRunning || c.Idle && !c.Ran
	if same(after, before) && !c.Restart && asIs {
		return nil
	}
	if c.Restart && c.Ran && p.req.Verb == Install {
		return &fault.Error{What: fmt.Sprintf("service %s runs another program or with another command than the image's", want.Name),
			Fix: "bake node upgrade with the same image stops it, replaces it, and puts it back if the new one fails"}
	}
	if err := p.refuseMarked(want.Name); err != nil {
		return err
	}
	p.surround(ctx, &c, s.PID)
	p.j.Services = append(p.j.Services, c)
	return nil
}

// refuseMarked asks before anything is stopped: a service that is marked for
// deletion can neither be changed nor started again.
func (p *planner) refuseMarked(name string) error {
	if _, err := p.sys.Configure(Settings{Name: name}); errors.Is(err, ErrMarked) {
		return markedFault(name)
	}
	return nil // whatever else is wrong is told when it is changed
}

func markedFault(name string) error {
	return &fault.Error{What: fmt.Sprintf("service %s is marked for deletion: something holds it open", name),
		Fix: "close services.msc, Event Viewer and Task Manager on the node, or restart it; then run this again", Err: ErrMarked}
}

// idle tells whether a service isn't started when it is set up: one that is
// disabled, and a manual one that didn't run. WMCO starts its manual ones.
func (p *planner) idle(want node.Service, ran bool) bool {
	return want.Start == winsvc.StartDisabled || want.Start == winsvc.StartManual && !ran && !p.managed
}

// surround finds out what depends on a service, and which pipes it serves: an
// older program may have fewer of them than the new one.
func (p *planner) surround(ctx context.Context, c *serviceChange, pid uint32) {
	var err error
	if c.Dependents, err = p.sys.Dependents(c.Name); err != nil {
		p.notes = append(p.notes, fmt.Sprintf("which services depend on %s isn't told: %v", c.Name, err))
	}
	for _, name := range c.Pipes {
		if owner, ok := p.sys.Pipe(ctx, name).PID.Get(); ok && c.Ran && owner == pid {
			c.PipesBefore = append(c.PipesBefore, name)
		}
	}
}

func runs(ps []Process, pid uint32) bool {
	return pid != 0 && slices.ContainsFunc(ps, func(p Process) bool { return p.PID == pid })
}

// refuseForeign refuses a service that bears our name and is somebody else's.
func (p *planner) refuseForeign(want node.Service, before Settings) error {
	path := programOf(before.Configuration)
	if node.SamePath(path, want.Path) {
		return nil
	}
	return &fault.Error{
		What: fmt.Sprintf("there is a service %s that starts %s, not %s", want.Name, path, want.Path),
		Fix:  fmt.Sprintf(`if nobody needs that program: sc.exe config %s binPath= "%s" on the node, and run this again`, want.Name, want.Path),
	}
}

// refuseRival refuses to set up a second owner of the same pipes.
func (p *planner) refuseRival(want node.Service) error {
	if len(want.Pipes) == 0 {
		return nil
	}
	all, err := p.sys.Services()
	if err != nil {
		return fmt.Errorf("list the node's services: %w", err)
	}
	g := &gatherer{all: all}
	rivals, _ := g.rivals(want).Get()
	for _, r := range rivals {
		start, told := r.Start.Get()
		if r.State == node.StateStopped && told && (start == winsvc.StartManual || start == winsvc.StartDisabled) {
			continue
		}
		return &fault.Error{
			What: fmt.Sprintf("service %s (%s) starts %s and would own the same pipes: whichever of the two starts later ends at once", r.Name, r.State, program(r.Command)),
			Fix:  fmt.Sprintf("sc.exe stop %s, then sc.exe config %s start= disabled on the node", r.Name, r.Name),
		}
	}
	return nil
}

// checkInUse refuses to replace a program that something else than our
// services runs: it would go on with the old one, whose file couldn't go.
func (p *planner) checkInUse() error {
	for _, f := range p.j.Files {
		for _, q := range p.processes {
			if !node.SamePath(q.Image, f.Path) || p.ours(f.Path) {
				continue
			}
			return &fault.Error{Where: f.Path, What: fmt.Sprintf("the file is in use: process %d runs it", q.PID),
				Fix: fmt.Sprintf("stop what runs it, then run this again; or leave its component out with --only; tasklist /svc /fi \"PID eq %d\" on the node names it", q.PID)}
		}
	}
	return nil
}

// ours tells whether path is the program of a service that is stopped for the
// change: all its processes are, then.
func (p *planner) ours(path string) bool {
	return slices.ContainsFunc(p.j.Services, func(s serviceChange) bool { return s.Restart && node.SamePath(s.Program, path) })
}

func (p *planner) planFolders() {
	for _, f := range p.j.Files {
		p.folders(filepath.Dir(f.Path))
	}
	for _, want := range p.req.Expectation.Services {
		if want.LogDirectory == "" {
			continue
		}
		before := len(p.j.Folders)
		p.folders(want.LogDirectory)
		if len(p.j.Folders) > before {
			p.j.LogFolders = append(p.j.LogFolders, want.LogDirectory)
		}
	}
}

func (p *planner) folders(dir string) {
	var missing []string
	for ; !slices.Contains(p.j.Folders, dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || !errors.Is(err, os.ErrNotExist) || filepath.Dir(dir) == dir {
			break
		}
		missing = append(missing, dir)
	}
	slices.Reverse(missing)
	p.j.Folders = append(p.j.Folders, missing...)
}

// planRecord is what is on the node afterwards and is ours to upgrade and to
// remove: all that the image names, no matter who put it there first. Folders are
// ours only where we made them.
func (p *planner) planRecord(old *record) {
	r := &record{Reference: p.req.Reference}
	if old == nil {
		old = &record{}
	}
	for _, f := range p.req.Expectation.Files {
		r.Files = append(r.Files, fileChange{Path: f.Path, New: f.SHA256, Size: f.Size})
	}
	for _, f := range old.Files { // of components that this image hasn't, or that --only left out
		if !slices.ContainsFunc(r.Files, func(g fileChange) bool { return node.SamePath(f.Path, g.Path) }) {
			r.Files = append(r.Files, f)
		}
	}
	for _, s := range p.req.Expectation.Services {
		r.Services = append(r.Services, serviceChange{Name: s.Name, Program: s.Path, Pipes: s.Pipes})
	}
	for _, s := range old.Services {
		if !slices.ContainsFunc(r.Services, func(t serviceChange) bool { return strings.EqualFold(s.Name, t.Name) }) {
			r.Services = append(r.Services, s)
		}
	}
	r.Folders = append(slices.Clone(old.Folders), p.j.Folders...)
	r.LogFolders = append(slices.Clone(old.LogFolders), p.j.LogFolders...)
	p.j.Record = r
}

// spare is what a node needs in addition to the files: logs are written meanwhile.
const spare = 16 << 20

func (p *planner) checkSpace() error {
	need := map[string]int64{}
	for _, f := range p.j.Files {
		need[filepath.VolumeName(f.Path)] += f.Size
	}
	for _, f := range p.j.Files {
		volume := filepath.VolumeName(f.Path)
		free, err := p.sys.Free(filepath.Dir(f.Path))
		if err != nil {
			p.notes = append(p.notes, "how much space is free isn't told: "+err.Error())
			continue
		}
		if uint64(need[volume])+spare > free { //nolint:gosec // sizes aren't negative, see node.Parse
			return &fault.Error{Where: f.Path, What: fmt.Sprintf("the node has %d MB free there, the new files need %d MB in addition to the old ones", free/1e6, (need[volume]+spare)/1e6),
				Fix: "make room on the node"}
		}
	}
	return nil
}

func programOf(c node.Configuration) string {
	command, _ := c.Command.Get()
	return program(command)
}

func program(command string) string {
	argv, err := winsvc.ParseCommand(command)
	if err != nil {
		return command
	}
	return argv[0]
}
