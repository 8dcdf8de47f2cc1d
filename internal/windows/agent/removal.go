package agent

import (
	"context"
	"fmt"

	"github.com/winbake/winbake/internal/windows/node"
)

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

func (p *planner) planServiceRemoval(ctx context.Context, old serviceChange) error {
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
