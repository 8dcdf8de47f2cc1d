package main

import (
	"context"
	"fmt"
)

type step struct {
	commit
	basis basis
}

// walker goes along branches. What it found for a commit holds for every
// branch that the commit is on, since all of them are first-parent lines.
type walker struct {
	repo  *repo
	meter *measurer
	seen  map[string]basis
}

// walk returns the steps of a branch, oldest first.
func (w *walker) walk(ctx context.Context, branch string) ([]step, error) {
	commits, err := w.repo.history(ctx, branch)
	if err != nil {
		return nil, err
	}
	var steps []step
	var parent basis
	for _, c := range commits {
		b, ok := w.seen[c.id]
		if !ok {
			if b, err = w.judge(ctx, parent, c); err != nil {
				return nil, fmt.Errorf("judge %s of %s: %w", c.id, branch, err)
			}
			w.seen[c.id] = b
		}
		steps = append(steps, step{c, b})
		parent = b
	}
	return steps, nil
}

func (w *walker) judge(ctx context.Context, parent basis, c commit) (basis, error) {
	m, around, err := w.meter.measure(ctx, c.id)
	if err != nil {
		return basis{}, err
	}
	toParent := 0
	if parent.version != "" {
		toParent = len(around.differ(w.meter.tag(parent.match.tag).around))
	}
	return decide(parent, m, c, toParent), nil
}

// interval is a run of commits on one basis.
type interval struct {
	first, last step
	start       int // index of first
	// reverts: the basis is one that an interval before had, and the ancestry
	// still names what came in between.
	reverts bool
}

// intervals cuts steps where the basis changes.
func intervals(steps []step) []interval {
	var out []interval
	earlier := map[string]bool{}
	for i, s := range steps {
		if n := len(out); n > 0 && out[n-1].first.basis.version == s.basis.version {
			out[n-1].last = s
			continue
		}
		out = append(out, interval{first: s, last: s, start: i, reverts: earlier[s.basis.version] && s.basis.outlived()})
		earlier[s.basis.version] = true
	}
	return out
}
