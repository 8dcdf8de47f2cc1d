package main

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

// shippedIn turns a branch's history and its minor's patches into the catalog's
// rows. Without patches (a minor that isn't released, or a driver that an
// operator ships) the head of the branch is all there is to say.
func shippedIn(f fork, minor string, steps []step, patches []patch) []catalog.Shipped {
	if len(steps) == 0 {
		return []catalog.Shipped{{
			Certainty: catalog.Default,
			Note:      "the fork has no branch for it",
			Evidence:  []catalog.Evidence{{Source: "https://github.com/" + f.Fork + "/branches"}},
		}}
	}
	if len(patches) == 0 || f.OLM {
		return []catalog.Shipped{headRow(f, minor, steps)}
	}
	spans := group(f, steps, patches)
	rows := make([]catalog.Shipped, len(spans))
	for i, sp := range spans {
		rows[i] = sp.row(f, minor)
		if len(spans) > 1 {
			rows[i].Certainty = catalog.Range
		}
		if i == 0 {
			continue
		}
		before := spans[i-1]
		rows[i-1].UntilZ, rows[i].FromZ = &before.last.z, &sp.first.z
		fuzzy := doubtful(patches, sp)
		rows[i-1].FuzzyZ, rows[i].FuzzyZ = max(rows[i-1].FuzzyZ, fuzzy), fuzzy
		rows[i].Evidence = append(rows[i].Evidence, edge(f, minor, before.last, sp))
	}
	return rows
}

// span is a run of patches with one version.
type span struct {
	in          interval
	first, last patch
	// pinned: the first patch names the commit itself.
	pinned bool
}

// group finds the commit of every patch and joins runs of one version.
// Intervals between two patches never shipped and vanish, such as the rebase
// of EBS to v1.55.0, which was reverted on the same day.
func group(f fork, steps []step, patches []patch) []span {
	all := intervals(steps)
	var out []span
	for _, p := range patches {
		i, pinned := find(f, steps, p)
		in := all[0]
		for _, candidate := range all {
			if candidate.start <= i {
				in = candidate
			}
		}
		if n := len(out); n > 0 && out[n-1].in.first.basis.version == in.first.basis.version {
			out[n-1].last = p
			continue
		}
		out = append(out, span{in, p, p, pinned})
	}
	return out
}

// find is the index of the commit that a patch was built from: the one it
// names, or else the newest before its build.
func find(f fork, steps []step, p patch) (index int, pinned bool) {
	if pin := p.pins[f.Build]; pin != "" {
		if i := slices.IndexFunc(steps, func(s step) bool { return strings.HasPrefix(s.id, pin) }); i >= 0 {
			return i, true
		}
	}
	for i := range steps {
		if has, _ := p.has(steps[i].date); has {
			index = i
		}
	}
	return index, false
}

// doubtful is by how many patches the lower edge of a span may be off: the
// number of patches of which the dates don't tell.
func doubtful(patches []patch, sp span) int {
	n := 0
	for _, p := range patches {
		_, sure := p.has(sp.in.first.date)
		if !sure && !(p.z == sp.first.z && sp.pinned) {
			n++
		}
	}
	return n
}

func (sp span) row(f fork, minor string) catalog.Shipped {
	return catalog.Shipped{
		Version:   sp.in.first.basis.version,
		Certainty: catalog.Exact,
		Note:      note(sp.in, ""),
		Evidence:  evidence(f, "release-"+minor, sp.in.first.basis),
	}
}

// headRow is for a driver whose patches aren't known or don't count.
func headRow(f fork, minor string, steps []step) catalog.Shipped {
	all := intervals(steps)
	last := all[len(all)-1]
	why := "not released yet"
	if f.OLM {
		why = "an operator ships it and moves its version on its own"
	}
	return catalog.Shipped{
		Version:   last.first.basis.version,
		Certainty: catalog.Default,
		Head:      day(last.last.date),
		Note:      note(last, why),
		Evidence:  evidence(f, "release-"+minor, last.first.basis),
	}
}
