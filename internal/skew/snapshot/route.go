package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// ControlPlaneOnly is why an update over two minors, from an even one, is a Control Plane
// Only update, in which the nodes are left behind in between; "" where it is none. The
// request decides, or else the cluster's channel, or that all pools of workers are paused:
// one that is may have been for another reason.
func ControlPlaneOnly(req Request, c *inventory.Cluster) string {
	workers := Select(c.Pools, func(p inventory.Pool) bool { return p.Name != ControlPlanePool })
	switch {
	case req.EUS != nil && *req.EUS:
		return "--eus"
	case req.EUS != nil || c.Hosted(): // it has no pools
	case strings.HasPrefix(c.Channel, "eus-"):
		return "channel " + c.Channel
	case len(workers) > 0 && !slices.ContainsFunc(workers, func(p inventory.Pool) bool { return !p.Paused }):
		return "all pools of workers are paused"
	}
	return ""
}

// OverTwo tells whether a Control Plane Only update can begin at a stop.
func (j *Route) OverTwo(stop int) bool {
	s := j.Stops[stop:]
	return len(s) > 2 && !s[0].IsZero() && s[0].Minor%2 == 0 && s[0].CompareMinor(s[1]) < 0 && s[1].CompareMinor(s[2]) < 0
}

// overTwo tells whether one can begin anywhere on the route.
func (j *Route) overTwo() bool {
	for i := range j.Stops {
		if j.OverTwo(i) {
			return true
		}
	}
	return false
}

// ControlPlaneOnly is why the route has a Control Plane Only update; "" where it has none.
func (snap *Snapshot) ControlPlaneOnly() string {
	if !snap.Route.overTwo() {
		return ""
	}
	return ControlPlaneOnly(snap.Request, &snap.Inventory.Cluster)
}

// HalfWay tells whether a cluster is in the middle of such an update: at an odd minor,
// without WMCO.
func HalfWay(req Request, c *inventory.Cluster, at version.OpenShift) bool {
	return c.WMCO == "" && at.Minor%2 == 1 && ControlPlaneOnly(req, c) != ""
}

// WithoutNodes tells whether a hop is the first of a Control Plane Only update: no
// WMCO is there for its target.
func (snap *Snapshot) WithoutNodes() bool {
	return snap.Route.OverTwo(snap.Hop) && ControlPlaneOnly(snap.Request, &snap.Inventory.Cluster) != ""
}

// ControlPlanePool is the pool that no update can do without.
const ControlPlanePool = "master"

// End is the release that it leads to.
func (j *Route) End() version.OpenShift { return j.Stops[len(j.Stops)-1] }

// NewRoute finds the route from what is asked and what the cluster says. Its
// errors are *fault.Error: a release that isn't one, a target that is older.
func NewRoute(c *catalog.Catalog, inv *inventory.Inventory, r Request) (*Route, error) {
	from, err := release("--from", cmp.Or(r.From, inv.Cluster.OpenShift))
	if err != nil {
		return nil, err
	}
	target := r.To
	if underWay(target, &inv.Cluster) {
		target = inv.Cluster.Updating
	}
	to, err := release("--to", target)
	if err != nil {
		return nil, err
	}
	j := &Route{Stops: []version.OpenShift{from}}
	if other := inv.Cluster.Other; other != "" && !to.IsZero() {
		return nil, &fault.Error{What: fmt.Sprintf("this is no OpenShift cluster (%s), so there is no update to OpenShift %s", other, to), Fix: "leave --to out: drivers, csi-proxy and Windows are judged as they are"}
	}
	if from.IsZero() && inv.Cluster.Other == "" {
		j.Problem = "it isn't known which release the cluster runs"
	}
	switch {
	case to.IsZero():
		return j, nil
	case from.IsZero():
		j.Stops = append(j.Stops, to)
		return j, nil
	case older(to, from) && underWay(r.To, &inv.Cluster):
		return j, nil // the cluster goes back to its former patch, which no driver follows
	case older(to, from):
		return nil, &fault.Error{
			What: fmt.Sprintf("the target %s is older than %s, which the cluster runs: OpenShift can't be taken back to it", to, from),
			Fix:  "name a newer release with --to, or leave --to out to check the present state",
		}
	}
	if to.CompareMinor(from) == 0 && (to.Patch < 0 || to.Compare(from) == 0) {
		j.There = to
		return j, nil // no update: the present state is what can be checked
	}
	j.walk(c, from, to)
	for i := 1; i < len(j.Stops)-1; i++ {
		if v, err := version.ParseOpenShift(inv.Cluster.Updating); err == nil && v.CompareMinor(j.Stops[i]) == 0 {
			j.Stops[i] = v
		}
	}
	if r.EUS != nil && *r.EUS && j.Problem == "" && !j.overTwo() {
		return nil, &fault.Error{
			What: fmt.Sprintf("--eus: a Control Plane Only update goes from an even minor to the next even one, and from %s to %s there is none", from, to),
			Fix:  "leave --eus out, or name another release with --to",
		}
	}
	return j, nil
}

// older compares patches only where both are given.
func older(to, from version.OpenShift) bool {
	if to.Patch < 0 || from.Patch < 0 {
		return to.CompareMinor(from) < 0
	}
	return to.Compare(from) < 0
}

// walk adds the stops between two releases by the catalog's edges.
func (j *Route) walk(c *catalog.Catalog, from, to version.OpenShift) {
	minors, err := c.Path(from.MinorString(), to.MinorString())
	switch {
	case errors.Is(err, catalog.ErrUnknownRelease):
		j.Unknown = from
		if c.Release(from.MinorString()) != nil {
			j.Unknown = to
		}
		j.Problem = fmt.Sprintf("the catalog (of %s) doesn't know OpenShift %s", c.AsOf, j.Unknown.MinorString())
	case err != nil:
		j.Problem = fmt.Sprintf("the catalog (of %s) knows no update from %s to %s", c.AsOf, from.MinorString(), to.MinorString())
		j.Fix = "add the release and the update to it with --catalog, where it is newer than the catalog"
		if next := c.Release(from.MinorString()).Next; len(next) > 0 {
			j.Fix = fmt.Sprintf("from %s it knows the update to %s: --to %s", from.MinorString(), strings.Join(next, " and to "), next[0])
		}
	}
	for i, minor := range minors {
		if v, err := version.ParseOpenShift(minor); err == nil && i > 0 && i < len(minors)-1 {
			j.Stops = append(j.Stops, v)
		}
	}
	j.Stops = append(j.Stops, to)
}

// release reads a release; "" is the zero value.
func release(flag, s string) (version.OpenShift, error) {
	if s == "" {
		return version.OpenShift{}, nil
	}
	v, err := version.ParseOpenShift(s)
	if err != nil {
		return v, &fault.Error{What: err.Error(), Fix: flag + " 4.20 or " + flag + " 4.20.3", Err: err}
	}
	return v, nil
}

// Offered are the newest releases of a minor that the cluster is offered: of those without
// known risks, and of those with some; the zero value for none. Candidates count only for one.
func Offered(c *inventory.Cluster, of version.OpenShift) (safe, risky version.OpenShift) {
	for _, text := range c.Available {
		v, err := version.ParseOpenShift(text)
		if err != nil || v.CompareMinor(of) != 0 || v.Pre != of.Pre {
			continue
		}
		newest := &safe
		if c.Risk(text) != nil {
			newest = &risky
		}
		if newest.IsZero() || v.Compare(*newest) > 0 {
			*newest = v
		}
	}
	return safe, risky
}

// Hops are the updates of the route.
func (j *Route) Hops() []Hop {
	var hops []Hop
	for i := 1; i < len(j.Stops); i++ {
		hops = append(hops, hopOf(j.Stops[i-1], j.Stops[i]))
	}
	return hops
}

func hopOf(from, to version.OpenShift) Hop {
	if from.IsZero() {
		return Hop{To: to.String()}
	}
	return Hop{from.String(), to.String()}
}

// Hop is an update from one minor to the next (or inside one).
type Hop struct {
	// From is "" where it isn't known.
	From string `json:"from"`
	To   string `json:"to"`
}

// String is "4.19 -> 4.20", or "? -> 4.20" from a release that isn't known.
func (h Hop) String() string { return cmp.Or(h.From, "?") + " -> " + h.To }

// Moments are the cluster at each phase of each hop, in the order of time.
func (snap *Snapshot) Moments() []*Snapshot {
	list := []*Snapshot{snap.moment(0, Now)} // later hops begin as the one before them ended
	hops := len(snap.Route.Stops) - 1
	for hop := range hops {
		list = append(list, snap.moment(hop, Target))
	}
	return list
}

func (snap *Snapshot) moment(hop int, phase Phase) *Snapshot {
	at := *snap
	at.set(hop, phase)
	return &at
}

// set makes a snapshot that of a moment.
func (snap *Snapshot) set(hop int, phase Phase) {
	snap.Phase, snap.Hop, snap.Hops, snap.From = phase, hop, len(snap.Route.Stops)-1, snap.Route.Stops[hop]
	if snap.Hops > 0 {
		snap.To, snap.Target = snap.Route.Stops[hop+1], snap.Route.End()
	}
	for _, d := range snap.Windows {
		now := snap.linuxAt(d, snap.From, hop == 0)
		target := now
		if snap.Hops > 0 {
			target = snap.forward(d, &now, snap.linuxAt(d, snap.To, false))
		}
		snap.Views = append(snap.Views, &View{
			At: snap, DaemonSet: d, Catalog: snap.LineOf(d), Line: snap.LineAt(d),
			LinuxNow: now, LinuxTarget: target, Nodes: snap.Scope(d),
		})
	}
}

// Underway tells whether the update that is checked is one that the cluster
// itself is in the middle of, and no other was asked for.
func (snap *Snapshot) Underway() bool {
	return underWay(snap.Request.To, &snap.Inventory.Cluster)
}

// underWay tells whether a cluster is on its way to a target: "" is any.
func underWay(target string, c *inventory.Cluster) bool {
	if target == "" || c.Updating == "" {
		return c.Updating != ""
	}
	to, err := version.ParseOpenShift(target)
	if err != nil {
		return false
	}
	now, err := version.ParseOpenShift(c.Updating)
	return err == nil && now.CompareMinor(to) == 0 && (to.Patch < 0 || now.Compare(to) == 0)
}

// HopName is "4.18 -> 4.19"; "" without hops.
func (snap *Snapshot) HopName() string {
	if snap.Hops == 0 {
		return ""
	}
	return hopOf(snap.From, snap.To).String()
}

// Moment names hop and phase, for people.
func (snap *Snapshot) Moment() string {
	if snap.Hops == 0 || snap.Phase == Now && snap.Hop == 0 {
		return "now"
	}
	return snap.HopName()
}
