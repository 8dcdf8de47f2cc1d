package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

// Errors of Path.
var (
	ErrUnknownRelease = errors.New("the catalog doesn't know the release")
	ErrNoPath         = errors.New("no update leads there")
)

// Release finds a minor, "4.20"; nil if the catalog doesn't know it. A patch
// may follow and doesn't count.
func (c *Catalog) Release(minor string) *Release {
	v, err := version.ParseOpenShift(minor)
	if err != nil {
		return nil
	}
	return find(c.Releases, func(r *Release) bool { return r.OpenShift == v.MinorString() })
}

// KubernetesOf is the Kubernetes of a minor; "" for a minor that isn't known.
func (c *Catalog) KubernetesOf(minor string) string {
	if r := c.Release(minor); r != nil {
		return r.Kubernetes
	}
	return ""
}

// Latest is the newest minor; nil in an empty catalog.
func (c *Catalog) Latest() *Release {
	if len(c.Releases) == 0 {
		return nil
	}
	return &c.Releases[len(c.Releases)-1] // they are sorted
}

// Path are the minors that an update goes through, both ends included: 4.22,
// 5.0. It goes by the releases' own edges and never by arithmetic. Its errors
// are ErrUnknownRelease and ErrNoPath, the latter for an older one too.
func (c *Catalog) Path(from, to string) ([]string, error) {
	start, end := c.Release(from), c.Release(to)
	if start == nil {
		return nil, fmt.Errorf("%w %s", ErrUnknownRelease, printable.Clip(from))
	}
	if end == nil {
		return nil, fmt.Errorf("%w %s", ErrUnknownRelease, printable.Clip(to))
	}
	paths := [][]string{{start.OpenShift}}
	seen := map[string]bool{start.OpenShift: true}
	for len(paths) > 0 {
		path := paths[0]
		paths = paths[1:]
		last := path[len(path)-1]
		if last == end.OpenShift {
			return path, nil
		}
		for _, next := range c.Release(last).Next {
			if !seen[next] && c.Release(next) != nil {
				seen[next] = true
				paths = append(paths, append(slices.Clone(path), next))
			}
		}
	}
	return nil, fmt.Errorf("from %s to %s: %w", start.OpenShift, end.OpenShift, ErrNoPath)
}

// Ships are the rows that may hold for a driver, by its name, in a release.
// One row: that is it, as surely as its certainty says; its Version is empty
// where it is shipped and the version isn't known. Several: the release isn't
// Dated, or its patch lies where the edge between rows is uncertain. None: the
// release doesn't ship it, or isn't known.
func (c *Catalog) Ships(release version.OpenShift, driver string) []Shipped {
	r := c.Release(release.MinorString())
	if r == nil {
		return nil
	}
	return filter(r.Drivers[driver], func(s *Shipped) bool { return !Dated(release) || s.mayHold(release.Patch) })
}

// candidate is a pre-release on the way to a minor's first patch.
var candidate = regexp.MustCompile(`^(ec|fc|rc)\.[0-9]+$`)

// Dated tells whether a release says how far along its minor it is. A minor alone
// doesn't, and neither do OKD's releases, nightly builds and those of CI: they
// are 4.21.0-okd-scos.9 and 4.21.0-0.nightly-..., with the patch 0 all the time.
func Dated(release version.OpenShift) bool {
	return release.Patch >= 0 && (release.Pre == "" || candidate.MatchString(release.Pre))
}

func (s *Shipped) mayHold(patch int) bool {
	return (s.FromZ == nil || patch >= *s.FromZ-s.FuzzyZ) && (s.UntilZ == nil || patch <= *s.UntilZ+s.FuzzyZ)
}

// MigrationOf is what a minor does with an in-tree plugin's volumes; nil if
// that isn't known.
func (c *Catalog) MigrationOf(inTree, minor string) *Migration {
	v, err := version.ParseOpenShift(minor)
	if err != nil {
		return nil
	}
	return find(c.Migration, func(m *Migration) bool { return m.InTree == inTree && m.OpenShift == v.MinorString() })
}

// GatesOf are the acknowledgements that an update from one minor to the next
// may wait for.
func (c *Catalog) GatesOf(from, to string) []Gate {
	return filter(c.Gates, func(g *Gate) bool { return g.From == from && g.To == to })
}
