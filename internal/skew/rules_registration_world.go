package skew

import (
	"slices"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// saying makes the cluster rule of a function that returns what it has to say.
func saying(of func(w *world) []draft) func(*world, *sink) {
	return func(w *world, out *sink) {
		for _, d := range of(w) {
			out.add(d)
		}
	}
}

// from and to are the minors at the ends of this hop, "" where there is none.
func (w *world) from() string { return minorOf(w.From) }
func (w *world) to() string   { return minorOf(w.To) }

func minorOf(o version.OpenShift) string {
	if o.IsZero() {
		return ""
	}
	return o.MinorString()
}

// windows are the DaemonSets of this phase that say that they run on Windows.
func (w *world) windows() []*inventory.Driver {
	var ds []*inventory.Driver
	for _, v := range w.Views {
		if v.D.OS == "windows" {
			ds = append(ds, v.D)
		}
	}
	return ds
}

// windowsNodes are all Windows nodes.
func (x *index) windowsNodes() []*inventory.Node {
	return memo(x, "windows nodes", func() []*inventory.Node {
		var ns []*inventory.Node
		for i := range x.inv.Nodes {
			ns = append(ns, &x.inv.Nodes[i])
		}
		return ns
	})
}

// lineAt is the catalog's line of a DaemonSet's version, nil where either isn't
// known.
func (x *index) lineAt(d *inventory.Driver) *catalog.Line {
	if line, ok := x.lines[d]; ok {
		return line
	}
	var line *catalog.Line
	if known := x.lineOf(d); known != nil && d.Version.Known {
		line = known.Line(d.Version.Version)
	}
	x.lines[d] = line
	return line
}

// idle tells whether it is known that no Windows node matches d.
func (x *index) idle(d *inventory.Driver) bool {
	return x.inv.Read[inventory.Nodes].Complete && len(x.Scope(d)) == 0
}

// csiNodes are the nodes on which Windows pods have CSI volumes of the
// provisioner; in-tree volumes are the in-tree gate's.
func (x *index) csiUse(provisioner string) map[string]bool {
	return memo(x, "nodes with CSI volumes of "+provisioner, func() map[string]bool {
		on := map[string]bool{}
		for _, u := range x.Uses(provisioner) {
			if u.InTree == "" && u.Node != "" {
				on[u.Node] = true
			}
		}
		return on
	})
}

// wmcoRow is the catalog's row for a WMCO version as it is written; nil where
// it can't be read or isn't known.
func (x *index) wmcoRow(s string) *catalog.WMCORelease {
	return memo(x, "WMCO "+s, func() *catalog.WMCORelease {
		w, err := version.ParseWMCO(s)
		if err != nil {
			return nil
		}
		return x.cat.WMCORelease(w)
	})
}

// proxyRow is the catalog's row for a csi-proxy, nil where it knows none.
func (x *index) proxyRow(d version.Driver) *catalog.CSIProxyRelease {
	return memo(x, "csi-proxy "+d.String(), func() *catalog.CSIProxyRelease { return x.cat.Proxy(d) })
}

// reaches tells whether the way that is asked for leads to a minor or past it.
func (x *index) reaches(minor version.OpenShift) bool {
	for _, s := range []string{x.req.To, x.inv.Cluster.Updating} {
		if to, err := version.ParseOpenShift(s); err == nil {
			return to.CompareMinor(minor) >= 0
		}
	}
	return false
}

// served tells whether a Windows DaemonSet of the provisioner covers n.
func (w *world) served(provisioner string, n *inventory.Node) bool {
	return w.serving(provisioner, n) != nil
}

// serving is the Windows DaemonSet of the provisioner that covers n; nil for
// none.
func (w *world) serving(provisioner string, n *inventory.Node) *inventory.Driver {
	for _, d := range w.windows() {
		if d.Provisioner == provisioner && slices.Contains(w.Scope(d), n) {
			return d
		}
	}
	return nil
}
