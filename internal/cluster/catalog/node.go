package catalog

import (
	"slices"

	"github.com/Masterminds/semver/v3"
)

// WindowsBuild is a build of Windows that WMCO takes as a node.
type WindowsBuild struct {
	Build int `json:"build"`
	// Revision is the least one, 681 of 20348.681; 0 for any.
	Revision int    `json:"revision,omitempty"`
	Name     string `json:"name" check:"text"`
	// Platforms are Infrastructure's platform types.
	Platforms []string `json:"platforms" check:"platform"`
	// From is the first minor whose WMCO takes it, Until the first that doesn't; "" for
	// none. From DoubtFrom on sources contradict each other, as Doubt says.
	From      string     `json:"from" check:"release"`
	Until     string     `json:"until,omitempty" check:"release"`
	DoubtFrom string     `json:"doubtFrom,omitempty" check:"release"`
	Doubt     string     `json:"doubt,omitempty"`
	Evidence  []Evidence `json:"evidence"`
}

// Containerd is which containerd a Kubernetes minor is tested with.
type Containerd struct {
	Kubernetes string `json:"kubernetes" check:"kubernetes"`
	// Least is the least release of each line; of a line that is newer than all of
	// them any is good.
	Least    []string   `json:"least" check:"version"`
	Evidence []Evidence `json:"evidence"`
}

// ContainerdLine is a minor of containerd.
type ContainerdLine struct {
	Line string `json:"line" check:"text"` // "1.7"
	// Ended is the day on which support ends, or ended.
	Ended string `json:"ended" check:"day"`
	// Vulnerable are the known vulnerabilities of its releases.
	Vulnerable []Vulnerability `json:"vulnerable,omitempty"`
	Evidence   []Evidence      `json:"evidence"`
}

// Vulnerability is one of a line of releases.
type Vulnerability struct {
	ID string `json:"id" check:"text"`
	// Fixed is the line's first release without it, "" for none.
	Fixed string `json:"fixed,omitempty" check:"version"`
}

// Open are the ids of the vulnerabilities that a release of the line has.
func (l *ContainerdLine) Open(v *semver.Version) (ids []string) {
	for _, known := range l.Vulnerable {
		if known.Fixed == "" || v.LessThan(semver.MustParse(known.Fixed)) {
			ids = append(ids, known.ID)
		}
	}
	return ids
}

// Good is the line's first release without a known vulnerability; nil where there is none,
// or none is known.
func (l *ContainerdLine) Good() (good *semver.Version) {
	for _, known := range l.Vulnerable {
		if known.Fixed == "" {
			return nil
		}
		if fixed := semver.MustParse(known.Fixed); good == nil || good.LessThan(fixed) {
			good = fixed
		}
	}
	return good
}

func (w WindowsBuild) key() string   { return w.Name }
func (c Containerd) key() string     { return c.Kubernetes }
func (l ContainerdLine) key() string { return l.Line }

// WindowsTaken are the builds that WMCO for a minor takes on a platform, "" for any;
// known is false for a minor of which the catalog has none.
func (c *Catalog) WindowsTaken(minor, platform string) (builds []WindowsBuild, known bool) {
	for _, w := range c.Windows {
		if compareMinor(w.From, minor) > 0 {
			continue
		}
		known = true
		if gone := w.Until != "" && compareMinor(w.Until, minor) <= 0; !gone && (platform == "" || slices.Contains(w.Platforms, platform)) {
			builds = append(builds, w)
		}
	}
	return builds, known
}

// Doubted tells whether sources contradict each other on the build for a minor.
func (w *WindowsBuild) Doubted(minor string) bool {
	return w.DoubtFrom != "" && compareMinor(w.DoubtFrom, minor) <= 0
}

// ContainerdOf is the row of a Kubernetes minor; nil for none.
func (c *Catalog) ContainerdOf(kubernetes string) *Containerd {
	return find(c.Containerd, func(r *Containerd) bool { return r.Kubernetes == kubernetes })
}

// Takes tells whether a release of containerd is one that the Kubernetes minor is tested with.
func (c *Containerd) Takes(v *semver.Version) bool {
	newer := true
	for _, text := range c.Least {
		least := semver.MustParse(text)
		if least.Major() == v.Major() && least.Minor() == v.Minor() {
			return !v.LessThan(least)
		}
		newer = newer && least.LessThan(v)
	}
	return newer
}

// ContainerdLineOf is the line of a release of containerd; nil for one that isn't known.
func (c *Catalog) ContainerdLineOf(v *semver.Version) *ContainerdLine {
	return find(c.ContainerdLines, func(l *ContainerdLine) bool {
		line := semver.MustParse(l.Line)
		return line.Major() == v.Major() && line.Minor() == v.Minor()
	})
}
