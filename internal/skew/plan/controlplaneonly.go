package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/remedy"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// overTwo tells whether the hop is the first of such an update.
func (p *planner) overTwo() bool {
	return p.route.OverTwo(p.hop) && snapshot.ControlPlaneOnly(p.req, &p.inv.Cluster) != ""
}

// pools pauses those that aren't paused, or resumes all: the way back leaves them so.
// Of an update that is half done those are resumed that are paused.
func (p *planner) pools(resume bool) []action.Action {
	all := p.inv.Cluster.Pools
	if len(all) == 0 && !p.inv.Cluster.Hosted() {
		all = []inventory.Pool{{Name: "worker"}} // every cluster has it
	}
	behind := snapshot.Select(all, func(pool inventory.Pool) bool {
		return pool.Name != snapshot.ControlPlanePool && (resume && p.hop > 0 || resume == pool.Paused)
	})
	return snapshot.Map(behind, func(pool inventory.Pool) action.Action {
		return action.PausePool{Pool: pool.Name, Resume: resume, Was: pool.Paused}
	})
}

// controlPlaneOnly is both hops of a Control Plane Only update, as OpenShift's
// documentation and WMCO's have it: the pools are paused and WMCO is removed, the
// control plane moves two minors, and the nodes follow at the end. The Windows
// pods run on meanwhile.
// https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/updating_clusters/performing-a-cluster-update#control-plane-only-update
// https://github.com/openshift/windows-machine-config-operator#readme
func (p *planner) controlPlaneOnly(from, middle, to version.OpenShift) {
	w := withoutWMCO(p.settle(rules.Before, []string{rules.Before}, from, middle))
	p.moved(p.hop, rules.Before, p.inv)
	wmco := w.Now.UsesWMCO()
	if pause := p.pools(false); len(pause) > 0 {
		p.add(rules.Before, nil, "a Control Plane Only update moves the control plane two minors, and the nodes once", pause...)
	}
	if wmco {
		p.add(rules.Before, nil, "WMCO doesn't update nodes over two minors. Windows pods run on without it; their kubelet is two minors behind at the end, which OpenShift allows on an even minor and no further", action.RemoveWMCO{To: to})
	}
	p.update(w, "eus-"+to.MinorString())
	p.take(w, rules.During, []string{rules.During})
	p.moved(p.hop, rules.After, p.inv)

	p.hop++
	p.forget()
	p.controlPlaneEnds(middle, to, wmco, moved(w.Now))
}

// controlPlaneEnds is the second hop of such an update, the first one where the cluster is
// half way. wmco: the first hop has removed WMCO; was is the driver that it has moved
// volumes to.
func (p *planner) controlPlaneEnds(middle, to version.OpenShift, wmco bool, was string) {
	w := withoutWMCO(p.settle(rules.Before, []string{rules.Before}, middle, to))
	p.moved(p.hop, rules.Before, p.inv)
	p.update(w, "eus-"+to.MinorString())
	p.take(w, rules.During, []string{rules.During})
	if resume := p.pools(true); len(resume) > 0 {
		p.add(rules.After, nil, "", resume...)
	}
	if snap := w.Now; wmco || snap.UsesWMCO() {
		up, why := remedy.WMCOOf(snap, snap.ToMinor()), whyWMCO
		up.Again = true
		do := []action.Action{up}
		if held(snap, snap.ToMinor()) {
			up.Held, why = true, whyRelease
			do = []action.Action{up, action.ReleaseNodes{Provisioner: cmp.Or(was, moved(snap)), WMCO: up.WMCO}}
		}
		p.add(rules.After, nil, why, do...)
	}
	p.follow(to)
}

// withoutWMCO leaves out what asks for an update of WMCO, which isn't there.
func withoutWMCO(e Judged) Judged {
	e.Entries = slices.DeleteFunc(slices.Clone(e.Entries), func(entry *rules.Entry) bool {
		return slices.ContainsFunc(entry.Said.Do, func(a action.Action) bool { _, is := a.(action.UpdateWMCO); return is })
	})
	return e
}

func (p *planner) update(e Judged, channel string) {
	snap := e.Now
	up := action.UpdateControlPlane{To: snap.To, Hosted: p.inv.Cluster.Hosted(), AWS: p.inv.Cluster.Platform == "AWS", Kubernetes: p.cat.KubernetesOf(snap.ToMinor())}
	for _, entry := range e.Entries {
		if f := entry.Finish(); f.Severity >= finding.Unknown && entry.Said.When != rules.Before && !slices.Contains(up.Later, f.ID+"="+f.Object) {
			up.Later = append(up.Later, f.ID+"="+f.Object)
		}
	}
	if r := p.cat.Release(snap.ToMinor()); r != nil && r.NoChannel {
		channel, up.NoChannel = p.inv.Cluster.Channel, true
	}
	up.Risky = p.inv.Cluster.Risk(up.To.String()) != nil
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
	if snap.Underway() {
		action.Apply(p.inv, up) // it was begun: AFTER001 asks to wait for it
		return
	}
	do := []action.Action{up}
	if have := p.inv.Cluster.Channel; channel != have && snap.To.CompareMinor(snap.From) != 0 {
		p.inv.Cluster.Channel = channel
		if do = []action.Action{action.SetChannel{Channel: channel, Was: have}, up}; up.Hosted {
			up.Channel = channel
			do = []action.Action{up}
		}
	}
	p.add(rules.During, nil, "", do...)
}

// channel is the one for a release of the sort that a cluster is in: stable, fast,
// candidate; eus has even minors alone, and candidate alone has what isn't released. A
// channel of another form is of OKD, stable-scos-4, or of the cluster's own update service;
// a nightly build is in none, and none leads away from one.
func channel(have string, from, to version.OpenShift) string {
	sort, of, _ := strings.Cut(have, "-")
	_, err := version.ParseOpenShift(of)
	build := func(v version.OpenShift) bool { return v.Pre != "" && !catalog.Dated(v) }
	switch {
	case have != "" && err != nil, build(from), build(to):
		return have
	case to.Pre != "":
		sort = "candidate"
	case have == "" || sort == "eus" && to.Minor%2 == 1:
		sort = "stable"
	}
	return sort + "-" + to.MinorString()
}

// offered is the newest patch of a minor that the cluster is offered, without known risks
// where there is one; the zero value for none, or where the patch was asked for.
func (p *planner) offered(to version.OpenShift) version.OpenShift {
	if to.Patch >= 0 {
		return version.OpenShift{}
	}
	safe, risky := snapshot.Offered(&p.inv.Cluster, to)
	if safe.IsZero() {
		return risky
	}
	return safe
}

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

func (p *planner) follow(to version.OpenShift) {
	p.settle(rules.After, []string{rules.Before, rules.During, rules.After, ""}, to)
	p.moved(p.hop, rules.After, p.inv)
}
