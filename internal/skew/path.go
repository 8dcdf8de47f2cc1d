package skew

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/version"
)

// journey is the way of an update: the releases that it passes.
type journey struct {
	// stops begin with where the cluster is; the zero value where that isn't
	// known. One stop alone: nothing is updated.
	stops []version.OpenShift
	// problem says why the way isn't known for sure; "" for nothing.
	problem string
	// fix says what to do about it.
	fix string
}

func (j *journey) from() version.OpenShift { return j.stops[0] }

func (j *journey) to() version.OpenShift { return j.stops[len(j.stops)-1] }

// newJourney finds the way from what is asked and what the cluster says. Its
// errors are *fault.Error: a release that isn't one, a target that is older.
func newJourney(c *catalog.Catalog, inv *inventory.Inventory, r Request) (*journey, error) {
	from, err := release("--from", cmp.Or(r.From, inv.Cluster.OpenShift))
	if err != nil {
		return nil, err
	}
	to, err := release("--to", cmp.Or(r.To, inv.Cluster.Updating))
	if err != nil {
		return nil, err
	}
	j := &journey{stops: []version.OpenShift{from}}
	switch {
	case to.IsZero():
		if from.IsZero() {
			j.problem = "it isn't known which release the cluster runs"
		}
		return j, nil
	case from.IsZero():
		j.stops = append(j.stops, to)
		j.problem = "it isn't known which release the cluster runs"
		return j, nil
	case older(to, from):
		return nil, &fault.Error{
			What: fmt.Sprintf("the target %s is older than %s, which the cluster runs: OpenShift can't be taken back to it", to, from),
			Fix:  "name a newer release with --to, or leave --to out to check the present state",
		}
	}
	j.walk(c, from, to)
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
func (j *journey) walk(c *catalog.Catalog, from, to version.OpenShift) {
	minors, err := c.Path(from.MinorString(), to.MinorString())
	switch {
	case errors.Is(err, catalog.ErrUnknownRelease):
		unknown := from
		if c.Release(from.MinorString()) != nil {
			unknown = to
		}
		j.problem = fmt.Sprintf("the catalog (of %s) doesn't know OpenShift %s", c.AsOf, unknown.MinorString())
		j.fix = fmt.Sprintf("where OpenShift %s is newer than the catalog give its payload with --release, and what is known of it with --catalog", unknown.MinorString())
	case err != nil:
		j.problem = fmt.Sprintf("the catalog (of %s) knows no update from %s to %s", c.AsOf, from.MinorString(), to.MinorString())
		j.fix = "add the release and the update to it with --catalog, where it is newer than the catalog"
		if next := c.Release(from.MinorString()).Next; len(next) > 0 {
			j.fix = fmt.Sprintf("from %s it knows the update to %s: --to %s", from.MinorString(), strings.Join(next, " and to "), next[0])
		}
	}
	for i, minor := range minors {
		if v, err := version.ParseOpenShift(minor); err == nil && i > 0 && i < len(minors)-1 {
			j.stops = append(j.stops, v)
		}
	}
	j.stops = append(j.stops, to)
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

// hops are the updates on the way.
func (j *journey) hops() []Hop {
	var hops []Hop
	for i := 1; i < len(j.stops); i++ {
		hops = append(hops, hopOf(j.stops[i-1], j.stops[i]))
	}
	return hops
}

func hopOf(from, to version.OpenShift) Hop {
	if from.IsZero() {
		return Hop{To: to.String()}
	}
	return Hop{from.String(), to.String()}
}
