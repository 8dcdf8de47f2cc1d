package catalog

import (
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/version"
)

// About is all that is known of one release.
type About struct {
	Release
	// Patch is the one that was asked for, "4.20.6", which Drivers are narrowed to; ""
	// for the whole minor.
	Patch string `json:"patch,omitempty"`
	// OldestKubelet is the oldest Kubernetes minor that a node may run.
	OldestKubelet string          `json:"oldestKubelet"`
	Windows       []WindowsDriver `json:"windows"`
	WMCO          []WMCORelease   `json:"wmco"`
	// CSIProxy are those that WMCO carries.
	CSIProxy  []CSIProxyRelease `json:"csiProxy"`
	Migration []Migration       `json:"migration"`
	// Gates are those of updates to the release and from it.
	Gates   []Gate        `json:"gates"`
	Payload []PayloadFile `json:"payload"`
}

// WindowsDriver is what a driver needs on Windows in the version that the release
// ships for Linux.
type WindowsDriver struct {
	Driver  string `json:"driver"`
	Version string `json:"version"`
	// Line is nil for a version that doesn't run on Windows.
	Line *Line `json:"line,omitempty"`
	// Missing are the csi-proxy groups that none of WMCO's csi-proxies serves.
	Missing []string `json:"missing,omitempty"`
	// Head is the commit of the fork to build it from; nil where the catalog has
	// none.
	Head *Head `json:"head,omitempty"`
}

// About collects what is known of a release, a minor or one of its patches; nil for
// one that isn't known.
func (c *Catalog) About(release version.OpenShift) *About {
	r := c.Release(release.MinorString())
	if r == nil {
		return nil
	}
	a := &About{Release: *r, WMCO: c.WMCOFor(r.OpenShift), Payload: c.PayloadFiles(r.OpenShift)}
	a.Drivers = map[string][]Shipped{}
	for name := range r.Drivers {
		a.Drivers[name] = c.Ships(release, name)
	}
	if release.Patch >= 0 {
		a.Patch = release.String()
	}
	if k, err := version.ParseKubernetes(r.Kubernetes); err == nil {
		a.OldestKubelet = fmt.Sprintf("%d.%d", k.Major, int(k.Minor)-r.KubeletSkew) // at most 3, by the check
	}
	for _, w := range a.WMCO {
		known := func(p CSIProxyRelease) bool { return p.Version == w.CSIProxy }
		if p := c.ProxyRelease(w.CSIProxy); p != nil && !slices.ContainsFunc(a.CSIProxy, known) {
			a.CSIProxy = append(a.CSIProxy, *p)
		}
	}
	a.Migration = filter(c.Migration, func(m *Migration) bool { return m.OpenShift == r.OpenShift })
	a.Gates = filter(c.Gates, func(g *Gate) bool { return g.From == r.OpenShift || g.To == r.OpenShift })
	a.Windows = c.windows(a)
	return a
}

func (c *Catalog) windows(a *About) (all []WindowsDriver) {
	for i := range c.Drivers {
		d := &c.Drivers[i]
		seen := map[string]bool{}
		for _, s := range a.Drivers[d.Name] {
			if s.Version == "" || seen[s.Version] || len(d.Lines) == 0 {
				continue
			}
			seen[s.Version] = true
			w := WindowsDriver{Driver: d.Name, Version: s.Version, Line: d.Line(parseDriver(s.Version))}
			if w.Line != nil {
				w.Missing = missing(w.Line, a.CSIProxy)
			}
			if b := c.Build(d.Name); b != nil {
				w.Head = b.Head(a.OpenShift)
			}
			all = append(all, w)
		}
	}
	return all
}

// missing are the groups of a line that no csi-proxy serves in a version that the line
// can use.
func missing(l *Line, proxies []CSIProxyRelease) (groups []string) {
	for _, use := range l.API {
		served := slices.ContainsFunc(proxies, func(p CSIProxyRelease) bool {
			return slices.ContainsFunc(use.Versions, func(v string) bool { return p.Serves(use.Group, v) })
		})
		if !served {
			groups = append(groups, use.Group)
		}
	}
	return groups
}
