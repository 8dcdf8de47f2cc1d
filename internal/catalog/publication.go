package catalog

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/version"
)

// Publication is what the project publishes for v, of one kind; nil where that
// wasn't seen. As in Line, only v's core counts.
func (d *Driver) Publication(v version.Driver, hostProcess bool) *Publication {
	if d == nil {
		return nil
	}
	v = coreOf(v)
	return find(d.Published, func(p *Publication) bool {
		return p.HostProcess == hostProcess && v.Compare(coreOf(parseDriver(p.From))) >= 0 &&
			(p.Until == "" || v.Compare(coreOf(parseDriver(p.Until))) < 0)
	})
}

// HasManifest tells whether the place of a manifest file is known.
func (p *Publication) HasManifest() bool { return p.Manifest != "" && p.Manifest != unseen }

// ManifestURL is where the manifest of v stands; "" where that isn't known, or
// where there is no such file.
func (p *Publication) ManifestURL(v version.Driver) string {
	if !p.HasManifest() || slices.Contains(p.Missing, v.Core()) {
		return ""
	}
	return strings.ReplaceAll(p.Manifest, placeholder, v.Core())
}

// RenderCommand is the command line that writes the manifest of v to its
// output; "" where there is none.
func (p *Publication) RenderCommand(v version.Driver) string {
	return strings.ReplaceAll(p.Render, placeholder, v.Core())
}

// Holds tells whether the project has the image in a repository.
func (p *Publication) Holds(repository string) bool {
	return repository != "" && (p.Repository == repository || slices.Contains(p.Also, repository))
}

// Publishes tells whether a repository is or was one of the project's own, for
// whatever version.
func (d *Driver) Publishes(repository string) bool {
	return d != nil && slices.ContainsFunc(d.Published, func(p Publication) bool {
		return p.Holds(repository) || slices.Contains(p.Former, repository)
	})
}

// Gone tells whether the image of v stood in repositories that are no more, and
// which is the next version that can still be had; "" where none is known.
func (d *Driver) Gone(v version.Driver, hostProcess bool) (next string, gone bool) {
	p := d.Publication(v, hostProcess)
	if p == nil || p.Repository != "" || len(p.Former) == 0 {
		return "", false
	}
	for i := range d.Published {
		later := &d.Published[i]
		from := coreOf(parseDriver(later.From))
		if later.HostProcess != hostProcess || later.Repository == "" || from.Compare(coreOf(v)) < 0 {
			continue
		}
		if next == "" || from.Compare(coreOf(parseDriver(next))) < 0 {
			next = later.From
		}
	}
	return next, true
}
