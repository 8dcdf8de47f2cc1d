package catalog

import (
	"fmt"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/base/printable"
)

func (e *Evidence) check(r rowCheck, path []any) {
	if e.Source == "" {
		r.badAt(path, "this evidence has no source", "name a URL, or repository@ref:path")
	}
}

func (d *Driver) check(r rowCheck, path []any) {
	for i := 1; i < len(d.Lines); i++ {
		before, here := d.Lines[i-1], d.Lines[i]
		switch {
		case before.Until == "":
			r.badAt(below(path, "lines", i-1), fmt.Sprintf("the line from %s has no end, and another follows", printable.Clip(before.From)), "write until: "+printable.Clip(here.From))
		case compareDriver(before.Until, here.From) != 0:
			r.badAt(below(path, "lines", i, "from"), fmt.Sprintf("the line before ends at %s and this one begins at %s", printable.Clip(before.Until), printable.Clip(here.From)), "begin each line where the one before it ends")
		}
	}
	last := map[bool]Publication{}
	for i, p := range d.Published {
		if before, is := last[p.HostProcess]; is {
			r.follows(below(path, "published", i), "row", "version", before.From, before.Until, p.From, compareDriver)
		}
		last[p.HostProcess] = p
	}
}

func (l *Line) check(r rowCheck, path []any) {
	r.ends(path, "line", "version", l.From, l.Until, compareDriver)
	if l.HostProcess == HostProcessMandatory && len(l.API) > 0 {
		r.badAt(below(path, "api"), "a line that must be a HostProcess container dials no csi-proxy", "remove api, or correct hostProcess")
	}
}

func (u *APIUse) check(r rowCheck, path []any) {
	if len(u.Versions) == 0 {
		r.badAt(path, "the versions are missing", "write them in the order in which they are tried: versions: [v1, v1beta2]")
	}
}

func (p *Publication) check(r rowCheck, path []any) {
	r.ends(path, "row", "version", p.From, p.Until, compareDriver)
	ways := slices.DeleteFunc([]string{p.Manifest, p.Render, p.Deploys}, func(way string) bool { return way == "" })
	if len(ways) != 1 {
		r.badAt(path, fmt.Sprintf("%d of manifest, render and deploys are given", len(ways)), "say in one way how the DaemonSet is had; where that isn't known: manifest: "+unseen)
	}
}

func (r *CSIProxyRelease) check(c rowCheck, path []any) {
	if len(r.Groups) == 0 {
		c.badAt(path, "the groups are missing", "write the pipes that it serves: groups: [disk-v1, ...]")
	}
}

func (r *WMCORelease) check(c rowCheck, path []any) {
	c.ends(path, "range", "version", r.From, r.Until, compareWMCO)
}

func (f *PayloadFile) check(r rowCheck, path []any) {
	r.ends(path, "range", "minor", f.From, f.Until, compareMinor)
}

func (r *Release) check(c rowCheck, path []any) {
	if r.KubeletSkew < 1 || r.KubeletSkew > 3 {
		c.badAt(below(path, "kubeletSkew"), fmt.Sprintf("a kubelet can't lag %d minors behind", r.KubeletSkew), "write 1 or 2")
	}
	for i, to := range r.Next {
		if compareMinor(to, r.OpenShift) <= 0 {
			c.badAt(below(path, "next", i), fmt.Sprintf("%s isn't newer than %s", printable.Clip(to), printable.Clip(r.OpenShift)), "write minors that an update can go to")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Drivers)) {
		at, rows := below(path, "drivers", name), r.Drivers[name]
		c.text(name, `check:"driver"`, at)
		if len(rows) == 0 {
			c.badAt(at, "there is no version", "write one, or leave the driver out: it isn't shipped")
		}
		// Each row begins at the patch after the last one of the row before it.
		for i := 1; i < len(rows); i++ {
			switch before, from := rows[i-1].UntilZ, rows[i].FromZ; {
			case before == nil || from == nil:
				c.badAt(below(at, i), "two rows hold for the same patches", "write untilZ in all rows but the last, and fromZ in all but the first")
			case *from != *before+1:
				c.badAt(below(at, i), fmt.Sprintf("the row before ends at patch %d and this one begins at %d", *before, *from), "begin each row at the patch after the one before it")
			}
		}
	}
}

func (s *Shipped) check(r rowCheck, path []any) {
	if s.Version == "" && s.Note == "" {
		r.badAt(path, "the version isn't known, and no note says why", "write note: ...")
	}
	switch {
	case s.FuzzyZ < 0, s.FromZ != nil && *s.FromZ < 0, s.UntilZ != nil && *s.UntilZ < 0:
		r.badAt(path, "a patch can't be below 0", "correct fromZ, untilZ or fuzzyZ")
	case s.FromZ != nil && s.UntilZ != nil && *s.FromZ > *s.UntilZ:
		r.badAt(path, fmt.Sprintf("the last patch, %d, is before the first, %d", *s.UntilZ, *s.FromZ), "correct fromZ or untilZ; both are in the range")
	}
}

func (b *Build) check(r rowCheck, path []any) {
	if !b.Sidecar() {
		r.text(b.Name, `check:"driver"`, below(path, "name"))
	}
	for i, h := range b.Heads {
		if c, known := r.k.into.ByCommit(b.Name, h.Commit); known && parseDriver(c.Version).Core() != parseDriver(h.Version).Core() {
			r.badAt(below(path, "heads", i, "version"), "commits says that this commit is of "+c.Version, "write "+c.Version)
		}
	}
}

// ends demands that a range ends after it begins.
func (r rowCheck) ends(path []any, name, unit, from, until string, compare func(a, b string) int) {
	if until != "" && compare(from, until) >= 0 {
		r.badAt(below(path, "until"), fmt.Sprintf("the %s ends at %s, before it begins at %s", name, printable.Clip(until), printable.Clip(from)),
			fmt.Sprintf("until is the first %s that isn't in the %s", unit, name))
	}
}

// follows demands that a range begins where the one before it ends, or later.
func (r rowCheck) follows(path []any, name, unit, from, until, here string, compare func(a, b string) int) {
	if until == "" || compare(here, until) < 0 {
		r.badAt(below(path, "from"), fmt.Sprintf("the %s from %s holds this %s already", name, printable.Clip(from), unit),
			fmt.Sprintf("let each %s begin where the one before it ends, or later", name))
	}
}
