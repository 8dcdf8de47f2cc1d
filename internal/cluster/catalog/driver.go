package catalog

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/version"
)

// Driver finds a driver by the catalog's name for it; nil if there is none.
func (c *Catalog) Driver(name string) *Driver {
	return find(c.Drivers, func(d *Driver) bool { return d.Name == name })
}

// ByProvisioner finds a driver by what CSINode and PersistentVolumes call it,
// in any case: on Windows a folder may be written either way.
func (c *Catalog) ByProvisioner(provisioner string) *Driver {
	return find(c.Drivers, func(d *Driver) bool { return strings.EqualFold(d.Provisioner, provisioner) })
}

// ByInTree finds the driver that replaces an in-tree plugin,
// kubernetes.io/azure-disk.
func (c *Catalog) ByInTree(plugin string) *Driver {
	return find(c.Drivers, func(d *Driver) bool { return d.InTree != "" && d.InTree == plugin })
}

// Line is the line that holds v, nil if none does. Only v's core counts: an
// rc behaves as its release does, and OpenShift ships vSphere's last rc.
func (d *Driver) Line(v version.Driver) *Line {
	if d == nil {
		return nil
	}
	return find(d.Lines, func(l *Line) bool { return inRange(v, l.From, l.Until) })
}

// HostProcessOnly tells whether nothing but a HostProcess container runs the line.
func (l *Line) HostProcessOnly() bool { return l != nil && l.HostProcess == HostProcessMandatory }

// CanHostProcess tells whether a HostProcess container runs it.
func (l *Line) CanHostProcess() bool {
	return l != nil && l.HostProcess != "" && l.HostProcess != HostProcessNone
}

// Holds tells whether the pair is such versions. Ranges go by the core of a
// version.
func (i *Incompatibility) Holds(linux, windows version.Driver) bool {
	l, err := version.ParseRange(i.Linux)
	if err != nil {
		return false
	}
	w, err := version.ParseRange(i.Windows)
	return err == nil && l.Contains(linux) && w.Contains(windows)
}

// ByCommit finds the upstream version of a fork's source commit. Either side
// may be shortened, to 12 digits at the least.
func (c *Catalog) ByCommit(driver, commit string) (Commit, bool) {
	commit = strings.ToLower(commit)
	if len(commit) < shortestCommit {
		return Commit{}, false
	}
	for _, known := range c.Commits {
		if known.Driver == driver && len(known.Commit) >= shortestCommit &&
			(strings.HasPrefix(commit, known.Commit) || strings.HasPrefix(known.Commit, commit)) {
			return known, true
		}
	}
	return Commit{}, false
}

// ByDigest finds the driver and version in an image.
func (c *Catalog) ByDigest(digest string) (Digest, bool) {
	for _, known := range c.Digests {
		if known.Digest == digest {
			return known, true
		}
	}
	return Digest{}, false
}

// Proxy is the newest csi-proxy that is known and isn't newer than v; a build
// between two releases (git describe) counts as the one below it, or as itself
// where the catalog has it. nil: v is older than all, or of another major
// version than all, of which nothing follows.
func (c *Catalog) Proxy(v version.Driver) *CSIProxyRelease {
	var found *CSIProxyRelease
	var best version.Driver
	for i := range c.CSIProxy {
		known := parseDriver(c.CSIProxy[i].Version)
		if known.IsZero() || known.Compare(v) > 0 || found != nil && known.Compare(best) < 0 {
			continue
		}
		found, best = &c.CSIProxy[i], known
	}
	if found == nil || v.Major > best.Major {
		return nil
	}
	return found
}

// ProxyByCommit finds a csi-proxy by its source commit, of 7 digits or more as
// its log writes it.
func (c *Catalog) ProxyByCommit(commit string) *CSIProxyRelease {
	commit = strings.ToLower(commit)
	if len(commit) < 7 {
		return nil
	}
	return find(c.CSIProxy, func(p *CSIProxyRelease) bool { return strings.HasPrefix(p.Commit, commit) })
}

// Serves tells whether it serves a group in a version, disk and v1.
func (r *CSIProxyRelease) Serves(group, api string) bool {
	return slices.Contains(r.Groups, group+"-"+api)
}

// ProxyRelease finds a csi-proxy by exactly the version that WMCORelease
// names; nil if there is none.
func (c *Catalog) ProxyRelease(name string) *CSIProxyRelease {
	return find(c.CSIProxy, func(p *CSIProxyRelease) bool { return p.Version == name })
}

// WMCORelease is the range that holds v; nil if the catalog doesn't know it.
func (c *Catalog) WMCORelease(v version.WMCO) *WMCORelease {
	return find(c.WMCO, func(w *WMCORelease) bool {
		return v.Compare(parseWMCO(w.From)) >= 0 && (w.Until == "" || v.Compare(parseWMCO(w.Until)) < 0)
	})
}

// WMCOFor are the ranges of WMCO that are for a minor of OpenShift.
func (c *Catalog) WMCOFor(minor string) []WMCORelease {
	return filter(c.WMCO, func(w *WMCORelease) bool { return w.OpenShift == minor })
}
