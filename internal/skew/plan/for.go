package plan

import (
	"slices"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// For is what to do about a cluster. moved is told where the steps so far have
// the drivers, before and after the update of each hop.
func For(snap *snapshot.Snapshot, evaluate Judge, moved func(hop int, when string, inv *inventory.Inventory)) []Step {
	p := &planner{cat: snap.Catalog, req: snap.Request, inv: scratch(snap.Inventory), asked: map[string]bool{}, evaluate: evaluate, moved: moved}
	if snap.ControlPlaneOnly() != "" { // one hop alone doesn't show it
		p.req.EUS = new(true)
	}
	route := *snap.Route
	route.Stops = slices.Clone(route.Stops)
	p.route = &route
	stops := route.Stops
	if len(stops) == 1 {
		p.settle("", []string{rules.Before, rules.During, rules.After, ""}, stops[0])
	}
	for p.hop = 0; p.hop < len(stops)-1; p.hop++ {
		p.forget()
		if offered := p.offered(stops[p.hop+1]); !offered.IsZero() {
			stops[p.hop+1] = offered // a driver may have moved inside the minor
		}
		if p.overTwo() {
			p.controlPlaneOnly(stops[p.hop], stops[p.hop+1], stops[p.hop+2])
			continue
		}
		from, to := stops[p.hop], stops[p.hop+1]
		if p.hop == 0 && snapshot.HalfWay(p.req, &p.inv.Cluster, from) && from.CompareMinor(to) < 0 {
			p.controlPlaneEnds(from, to, false, "")
			continue
		}
		w := p.settle(rules.Before, []string{rules.Before}, from, to)
		p.moved(p.hop, rules.Before, p.inv)
		p.update(w, channel(p.inv.Cluster.Channel, stops[0], to))
		p.take(w, rules.During, []string{rules.During})
		p.operator(w)
		p.follow(to)
	}
	p.hop = max(0, len(stops)-2)
	when := rules.After
	if len(stops) == 1 {
		when = ""
	}
	check := action.Check{}
	for _, a := range slices.Concat(p.did...) {
		if b, ok := a.(action.BuildImage); ok && b.Release == stops[len(stops)-1].MinorString() {
			check.Built, check.Files = b.Release, append(check.Files, b.File())
		}
	}
	p.add(when, nil, "", check)
	for i, records := range action.Sequence(p.did) {
		p.list[i].Actions = records
	}
	return p.list
}
