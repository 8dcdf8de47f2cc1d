package catalog

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/version"
)

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
