package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/version"
)

// digits is how much of a commit id the catalog keeps.
const digits = 12

// found is what the survey of a fork brought.
type found struct {
	fork     fork
	branches []branch
}

// branch is a release branch.
type branch struct {
	minor   string
	steps   []step
	shipped []catalog.Shipped
}

// minors are those of 4.x from the given one on, and what follows them. 4.23
// and 5.0 are twins: updates go from 4.22 to 5.0.
func minors(since int) []string {
	var out []string
	for n := since; n <= 23; n++ {
		out = append(out, "4."+strconv.Itoa(n))
	}
	return append(out, "5.0")
}

// commits are all of the branches', with the first minor that has each. Those
// of an unknown version are left out: a lookup falls back to the z-stream.
func (f *found) commits() []catalog.Commit {
	var out []catalog.Commit
	seen := map[string]bool{}
	for _, b := range f.branches {
		for _, s := range b.steps {
			if seen[s.id] || s.basis.version == "" {
				continue
			}
			seen[s.id] = true
			out = append(out, catalog.Commit{
				Driver: f.fork.driver, Commit: s.id[:digits], Version: s.basis.version,
				OpenShift: b.minor, Date: day(s.date),
			})
		}
	}
	return out
}

// save replaces this driver's rows in both files.
func (f *found) save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("save: %w", err)
	}
	if err := f.saveReleases(filepath.Join(dir, "releases.yaml")); err != nil {
		return err
	}
	return f.saveCommits(filepath.Join(dir, "commits.yaml"))
}

func (f *found) saveReleases(path string) error {
	file, err := read[releasesFile](path)
	if err != nil {
		return err
	}
	for _, b := range f.branches {
		i := slices.IndexFunc(file.Releases, func(r catalog.Release) bool { return r.OpenShift == b.minor })
		if i < 0 {
			file.Releases = append(file.Releases, catalog.Release{OpenShift: b.minor})
			i = len(file.Releases) - 1
		}
		if file.Releases[i].Drivers == nil {
			file.Releases[i].Drivers = map[string][]catalog.Shipped{}
		}
		if len(b.shipped) > 0 {
			file.Releases[i].Drivers[f.fork.driver] = b.shipped
		}
	}
	slices.SortStableFunc(file.Releases, func(a, b catalog.Release) int { return compareMinors(a.OpenShift, b.OpenShift) })
	text, err := render(file, func(*yaml.Node) bool { return false })
	if err != nil {
		return err
	}
	return replace(path, releasesHead, text)
}

func (f *found) saveCommits(path string) error {
	file, err := read[commitsFile](path)
	if err != nil {
		return err
	}
	file.Commits = slices.DeleteFunc(file.Commits, func(c catalog.Commit) bool { return c.Driver == f.fork.driver })
	file.Commits = append(file.Commits, f.commits()...)
	slices.SortStableFunc(file.Commits, func(a, b catalog.Commit) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), compareMinors(a.OpenShift, b.OpenShift),
			cmp.Compare(a.Date, b.Date))
	})
	text, err := render(file, func(n *yaml.Node) bool { return has(n, "commit") })
	if err != nil {
		return err
	}
	return replace(path, commitsHead, text)
}

func compareMinors(a, b string) int {
	x, _ := version.ParseOpenShift(a)
	y, _ := version.ParseOpenShift(b)
	return x.Compare(y)
}
