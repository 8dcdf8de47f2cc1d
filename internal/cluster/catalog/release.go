package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
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

// Windows builds from which on a host runs containers of older builds.
const (
	server2022 = 20348
	Server2025 = 26100
)

// HasImageFor tells whether containerd on a node runs one of the line's images
// in a container that isn't HostProcess. build is the node's Windows build,
// runtime its status.nodeInfo.containerRuntimeVersion, "" where that isn't known.
func (l *Line) HasImageFor(build int, runtime string) bool {
	return slices.ContainsFunc(l.Builds, func(image int) bool { return RunsImage(image, build, runtime) })
}

// RunsImage tells whether containerd on a node, both as in HasImageFor, runs an image
// of a Windows build.
func RunsImage(image, build int, runtime string) bool {
	return oldestImage(build, runtime) <= image && image <= build
}

// oldestImage is the oldest Windows build whose images a host runs; the newest
// is its own. The rule came with Windows Server 2022 and has changed twice, read
// tag by tag in containerd's platforms folder and, from 1.7.19 on, in
// https://github.com/containerd/platforms (v0.2.1, v1.0.0-rc.0 to rc.4):
//
//	before 1.6.23 and 1.7.6  the very build
//	before 2.2               from Windows Server 2022 on
//	from 2.2 on              from the Windows Server release before the host's on
//
// A runtime that isn't known is taken for one that every WMCO since 7.1.1 fits:
// newer than 1.6.23, and maybe newer than 2.2.
func oldestImage(build int, runtime string) int {
	v, err := semver.NewVersion(strings.TrimPrefix(runtime, "containerd://"))
	known := err == nil
	switch {
	case build < server2022 || known && v.LessThan(stableABI(v)):
		return build
	case build > Server2025 && !(known && v.LessThan(semver.New(2, 2, 0, "", ""))):
		return Server2025
	}
	return server2022
}

// HostProcessOn tells what a container runtime, as in oldestImage, makes of
// HostProcess containers: whether it runs them, and whether it binds their volumes to
// the paths that they are mounted at. containerd runs them from 1.6 on; 1.6 has
// their volumes below $CONTAINER_SANDBOX_MOUNT_POINT alone, 1.7 binds them
// (https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/,
// KEP-1981, Container Mounts). Docker runs none. known is false for any other.
func HostProcessOn(runtime string) (runs, binds, known bool) {
	if strings.HasPrefix(runtime, "docker://") {
		return false, false, true
	}
	v := ContainerdVersion(runtime)
	if v == nil {
		return false, false, false
	}
	at := func(minor uint64) bool { return v.Major() > 1 || v.Major() == 1 && v.Minor() >= minor }
	return at(6), at(7), true
}

// ContainerdVersion is the release of a node's containerd, from its
// status.nodeInfo.containerRuntimeVersion; nil for another runtime.
func ContainerdVersion(runtime string) *semver.Version {
	text, is := strings.CutPrefix(runtime, "containerd://")
	v, err := semver.NewVersion(text)
	if !is || err != nil {
		return nil
	}
	// 2.0.5-k3s1 is a distribution's build of 2.0.5, not older than it.
	if p := v.Prerelease(); p != "" && !unfinished.MatchString(p) {
		return semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
	}
	return v
}

// unfinished is what containerd calls releases before one: v2.1.0-beta.0.
var unfinished = regexp.MustCompile(`^(alpha|beta|rc)\b`)

// stableABI is the first release of v's line in which newer hosts run older
// images.
func stableABI(v *semver.Version) *semver.Version {
	if v.Major() == 1 && v.Minor() < 7 {
		return semver.New(1, 6, 23, "", "")
	}
	return semver.New(1, 7, 6, "", "")
}
