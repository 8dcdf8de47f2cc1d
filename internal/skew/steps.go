package skew

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// update is the hop itself.
func (p *planner) update(e *evaluation, channel string) {
	w := e.moments[0]
	up := action.UpdateControlPlane{To: w.To}
	if offered := p.offered(w.To); !offered.IsZero() {
		up.To = offered
	}
	if r := p.cat.Release(w.to()); r != nil {
		up.Kubernetes = r.Kubernetes
	}
	for i := range p.inv.Drivers {
		if d := &p.inv.Drivers[i]; d.OS == "linux" && d.OperatorManaged && !w.fromOLM(d) {
			up.Linux = append(up.Linux, d.Object)
		}
	}
	for _, l := range p.inv.Leftovers {
		if m := p.cat.MigrationOf(l.InTree, w.to()); m != nil && moved(m.Linux) && !slices.Contains(up.Migrated, l.InTree) {
			up.Migrated = append(up.Migrated, l.InTree)
		}
	}
	if w.To.CompareMinor(w.From) == 0 {
		p.add(during, nil, "", up)
		return
	}
	have := p.inv.Cluster.Channel
	if channel != have {
		p.inv.Cluster.Channel = channel
		p.add(during, nil, "", action.SetChannel{Channel: channel, Was: have}, up)
		return
	}
	p.add(during, nil, "", up)
}

// channel is the one for a minor of the sort that a cluster is in: stable, fast,
// candidate; eus has even minors alone.
func channel(have string, to version.OpenShift) string {
	sort, _, _ := strings.Cut(have, "-")
	if have == "" || sort == "eus" && to.Minor%2 == 1 {
		sort = "stable"
	}
	return sort + "-" + to.MinorString()
}

// fromOLM tells whether an operator from OperatorHub brings a Linux driver.
func (x *index) fromOLM(d *inventory.Driver) bool {
	known := x.lineOf(d)
	return known != nil && known.OLM
}

// offered is the newest patch of a minor that the cluster is offered; the zero
// value for none, or where the patch was asked for.
func (p *planner) offered(to version.OpenShift) version.OpenShift {
	var newest version.OpenShift
	for _, s := range p.inv.Cluster.Available {
		v, err := version.ParseOpenShift(s)
		if err == nil && to.Patch < 0 && v.CompareMinor(to) == 0 && v.Pre == "" && (newest.IsZero() || v.Compare(newest) > 0) {
			newest = v
		}
	}
	return newest
}

// operator brings the Windows nodes to the hop's release.
func (p *planner) operator(e *evaluation) {
	w := e.moments[0]
	if w.To.CompareMinor(w.From) == 0 || !w.usesWMCO() {
		return
	}
	up := w.updateWMCO(w.to())
	if held := w.heldBack(); held != "" {
		p.add(after, nil, whyRelease, append(up, action.ReleaseNodes{Provisioner: held})...)
		return
	}
	p.add(after, nil, whyWMCO, up...)
}

const (
	whyWMCO    = "WMCO brings kubelet and csi-proxy; csi-proxy comes before the drivers"
	whyRelease = "WMCO 8 and 9 hold a node with volumes until it is released; one at a time shows whether the driver works before all pods depend on it"
)

// heldBack is the driver that WMCO waits for on each node with volumes: it does so
// in the hop that moves in-tree volumes to CSI. "" for none.
func (w *world) heldBack() string {
	if !slices.Contains([]string{"4.13", "4.14"}, w.to()) {
		return ""
	}
	for _, use := range w.inTreeUses() {
		on, _ := w.onCSI(use.plugin, w.to())
		if already, _ := w.onCSI(use.plugin, w.from()); on && !already && !w.stranded(use) {
			return use.provisioner
		}
	}
	return ""
}
