package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/winbake/winbake/internal/catalog"
)

type options struct {
	clones, data string
	drivers      []string
}

type found struct {
	fork     fork
	branches []branch
}

type branch struct {
	minor   string
	steps   []step
	shipped []catalog.Shipped
}

func generate(ctx context.Context, known forksData, o options, w io.Writer) error {
	old, err := load(o.data)
	if err != nil {
		return err
	}
	releases, err := minors(o.data)
	if err != nil {
		return err
	}
	cal, err := newCalendar(ctx, o.clones)
	if err != nil {
		return err
	}
	for _, f := range known.Forks {
		if len(o.drivers) > 0 && !slices.Contains(o.drivers, f.Name) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(releases), func(m string) bool { return before(m, f.Since) })
		found, err := survey(ctx, o.clones, f, of, cal)
		if err != nil {
			return fmt.Errorf("survey %s: %w", f.Fork, err)
		}
		// After each driver, so that a run that is stopped leaves what it found.
		if err := found.save(o.data, known.HeadsSince); err != nil {
			return err
		}
	}
	made, err := load(o.data)
	if err != nil {
		return err
	}
	return printDiff(w, old, made)
}

func survey(ctx context.Context, clones string, f fork, minors []string, cal *calendar) (*found, error) {
	forkDir, err := gitDir(clones, f.Fork)
	if err != nil {
		return nil, err
	}
	upstreamDir, err := gitDir(clones, f.Upstream)
	if err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp("", "winbake-forks-")
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer os.RemoveAll(tmp)
	r, err := join(ctx, filepath.Join(tmp, "joined.git"), forkDir, upstreamDir)
	if err != nil {
		return nil, err
	}
	meter, err := newMeasurer(ctx, r, f)
	if err != nil {
		return nil, err
	}
	w := &walker{repo: r, meter: meter, seen: map[string]basis{}}
	out := &found{fork: f}
	for _, minor := range minors {
		steps, err := w.walk(ctx, "release-"+minor)
		if err != nil {
			return nil, err
		}
		b := branch{minor: minor, steps: steps}
		if !f.Sidecar {
			patches, err := cal.patches(ctx, minor)
			if err != nil {
				return nil, err
			}
			b.shipped = shippedIn(f, minor, steps, patches)
		}
		out.branches = append(out.branches, b)
	}
	return out, nil
}
