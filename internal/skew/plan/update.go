package plan

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
	"github.com/winbake/winbake/internal/version"
)

// update is the hop itself.
func (p *planner) update(e Judged, channel string) {
	snap := e.Now
	up := action.UpdateControlPlane{To: snap.To, Kubernetes: p.cat.KubernetesOf(snap.ToMinor())}
	if offered := p.offered(snap.To); !offered.IsZero() {
		up.To = offered
	}
	for _, d := range snapshot.Pointers(p.inv.Drivers) {
		// An operator from OperatorHub brings its driver at another time.
		if known := snap.LineOf(d); d.OS == "linux" && d.OperatorManaged && (known == nil || !known.OLM) {
			up.Linux = append(up.Linux, d.Object)
		}
	}
	for _, l := range p.inv.Leftovers {
		if m := p.cat.MigrationOf(l.InTree, snap.ToMinor()); m != nil && snapshot.ByCSI(m.Linux) && !slices.Contains(up.Migrated, l.InTree) {
			up.Migrated = append(up.Migrated, l.InTree)
		}
	}
	if snap.To.CompareMinor(snap.From) == 0 {
		p.add(rules.During, nil, "", up)
		return
	}
	have := p.inv.Cluster.Channel
	if channel != have {
		p.inv.Cluster.Channel = channel
		p.add(rules.During, nil, "", action.SetChannel{Channel: channel, Was: have}, up)
		return
	}
	p.add(rules.During, nil, "", up)
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
func (p *planner) operator(e Judged) {
	snap := e.Now
	if snap.To.CompareMinor(snap.From) == 0 || !snap.UsesWMCO() {
		return
	}
	if row := snap.WMCORow(p.inv.Cluster.WMCO); row != nil && row.OpenShift == snap.ToMinor() {
		return // a rule has asked for it
	}
	do, why := released(snap, []action.Action{remedy.WMCOOf(snap, snap.ToMinor())}), whyWMCO
	if len(do) > 1 {
		why = whyRelease
	}
	p.add(rules.After, nil, why, do...)
}

const (
	whyWMCO    = "WMCO brings kubelet and csi-proxy; csi-proxy comes before the drivers"
	whyRelease = "WMCO 8 and 9 hold a node with volumes until it is released; one at a time shows whether the driver works before all pods depend on it"
)

// follow is what comes after a hop's nodes.
func (p *planner) follow(to version.OpenShift) {
	p.settle(rules.After, []string{rules.Before, rules.During, rules.After, ""}, to)
	if p.hop == len(p.route.Stops)-2 {
		p.restPlanned(p.judged(to))
	}
	p.moved(p.hop, rules.After, p.inv)
}
