package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
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
	picks   []string // by the last of steps
}

func generate(ctx context.Context, known forksData, o options, w io.Writer) error {
	old, err := load(o.data)
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
		var minors []string // a new release is a row in the data
		for _, r := range old.Releases {
			if !before(r.OpenShift, f.Since) {
				minors = append(minors, r.OpenShift)
			}
		}
		found, err := survey(ctx, o.clones, f, minors, cal)
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
	r, err := open(ctx, forkDir, upstreamDir)
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
			if b.picks, err = r.picks(ctx, steps); err != nil {
				return nil, err
			}
		}
		out.branches = append(out.branches, b)
	}
	return out, nil
}

//go:embed forks.yaml
var forksFile []byte

// forksData is forks.yaml, which says what the fields are.
type forksData struct {
	HeadsSince string `yaml:"headsSince"`
	Forks      []fork `yaml:"forks"`
}

// fork is an OpenShift fork of a driver and where its upstream is.
type fork struct {
	Name     string `yaml:"name"` // the catalog's
	Build    string `yaml:"build"`
	Fork     string `yaml:"fork"`     // owner/name on GitHub
	Upstream string `yaml:"upstream"` // the same
	Since    string `yaml:"since"`
	OLM      bool   `yaml:"olm"`
	Sidecar  bool   `yaml:"sidecar"`
	// Version is a file and the expression that finds a version in it.
	Version struct{ File, Find string } `yaml:"version"`
}

func readForks(data []byte) (forksData, error) {
	var d forksData
	if err := yaml.Unmarshal(data, &d); err != nil {
		return d, fmt.Errorf("read forks.yaml: %w", err)
	}
	for _, f := range d.Forks {
		if _, err := regexp.Compile(f.Version.Find); err != nil {
			return d, fmt.Errorf("read forks.yaml: %s: %w", f.Name, err)
		}
	}
	return d, nil
}

func before(a, b string) bool { return compareMinors(a, b) < 0 }

func compareMinors(a, b string) int {
	x, _ := version.ParseOpenShift(a)
	y, _ := version.ParseOpenShift(b)
	return x.Compare(y)
}
