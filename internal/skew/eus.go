package skew

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/version"
)

// eus tells whether an update over two minors, from an even one, is a Control
// Plane Only update: the nodes are left behind in between. The request says so,
// the cluster's channel, or a paused pool.
func eus(req Request, c *inventory.Cluster) bool {
	return req.EUS || strings.HasPrefix(c.Channel, "eus-") || slices.ContainsFunc(c.Pools, func(p inventory.Pool) bool { return p.Paused && p.Name != controlPlane })
}

// overTwo tells whether the hop is the first of such an update.
func (p *planner) overTwo() bool {
	stops := p.journey.stops[p.hop:]
	return len(stops) > 2 && stops[0].Minor%2 == 0 && stops[0].CompareMinor(stops[1]) < 0 && stops[1].CompareMinor(stops[2]) < 0 && eus(p.req, &p.inv.Cluster)
}

// controlPlane is the pool that no update can do without.
const controlPlane = "master"

// workers are the pools that stay behind.
func (p *planner) workers() []string {
	var names []string
	for _, pool := range p.inv.Cluster.Pools {
		if pool.Name != controlPlane {
			names = append(names, pool.Name)
		}
	}
	if names == nil {
		return []string{"worker"} // every cluster has it
	}
	return names
}

// controlPlaneOnly is both hops of a Control Plane Only update, as OpenShift's
// documentation and WMCO's have it: the pools are paused and WMCO is removed, the
// control plane moves two minors, and the nodes follow at the end. The Windows
// pods run on meanwhile.
// https://docs.redhat.com/en/documentation/openshift_container_platform/latest/html/updating_clusters/performing-a-cluster-update#control-plane-only-update
// https://github.com/openshift/windows-machine-config-operator#readme
func (p *planner) controlPlaneOnly(from, middle, to version.OpenShift) {
	p.fix(before, []string{before}, from, middle)
	p.moved(func(r *Row) *string { return &r.WindowsBefore })
	w := p.judged(from, middle)
	wmco := w.moments[0].usesWMCO()
	var hold []action.Action
	for _, pool := range p.workers() {
		hold = append(hold, action.PausePool{Pool: pool})
	}
	p.add(before, nil, "a Control Plane Only update moves the control plane two minors, and the nodes once", hold...)
	if wmco {
		p.add(before, nil, "WMCO doesn't update nodes over two minors. Windows pods run on without it; their kubelet is two minors behind at the end, which OpenShift allows on an even minor and no further", action.RemoveWMCO{})
	}
	channel := "eus-" + to.MinorString()
	p.update(w, channel)
	p.take(w, during, []string{during})
	p.moved(func(r *Row) *string { return &r.WindowsAfter })

	p.hop++
	p.fix(before, []string{before}, middle, to)
	p.moved(func(r *Row) *string { return &r.WindowsBefore })
	second := p.judged(middle, to)
	p.update(second, channel)
	p.take(second, during, []string{during})
	var resume []action.Action
	for _, pool := range p.workers() {
		resume = append(resume, action.PausePool{Pool: pool, Resume: true})
	}
	p.add(after, nil, "", resume...)
	if wmco {
		m := second.moments[0]
		install, why := []action.Action{action.InstallWMCO{UpdateWMCO: m.wmcoOf(m.to())}}, whyWMCO
		for _, e := range []*evaluation{w, second} {
			if held := e.moments[0].heldBack(); held != "" {
				install, why = append(install, action.ReleaseNodes{Provisioner: held}), whyRelease
			}
		}
		p.add(after, nil, why, install...)
	}
	p.follow(to)
}
