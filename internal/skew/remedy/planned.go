package remedy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/skew/action"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// misfits are the rules that find each.
var misfits = map[snapshot.Misfit]string{snapshot.LeavesNodes: "REG001", snapshot.RunsTwice: "REG002", snapshot.MatchesNone: "REG004"}

// plannedChanges apply what was planned for a driver, a file each: a file may
// hold several DaemonSets, and replaces what each of them replaces. None where
// nothing was planned for it.
func plannedChanges(snap *snapshot.Snapshot, d *inventory.Driver) []action.Action {
	var list []action.Action
	for _, file := range snapshot.Unique(snapshot.Map(snap.PlannedFor(d), snapshot.PlannedFile)) {
		list = append(list, PlannedFileChange(snap, file)...)
	}
	return list
}

// PlannedFileChange applies a file of planned DaemonSets. Where one of them
// can't take the place of what it was planned for it has no commands: they would
// leave nodes without a driver, or with two.
func PlannedFileChange(snap *snapshot.Snapshot, file string) []action.Action {
	apply := action.ApplyPlanned{File: file}
	var gone []action.Action
	faults := map[string]bool{}
	for _, p := range snap.PlannedWindows {
		if snapshot.PlannedFile(p) != file {
			continue
		}
		apply.Sets = append(apply.Sets, *p)
		if l := snap.LineAt(p); l.HostProcessOnly() && !p.HostProcess {
			faults["HP001"] = true
		}
		for _, d := range snap.Replaced()[p] {
			if list, why := snap.Unsuitable(d); slices.Contains(list, p) {
				faults[misfits[why]] = true
			}
			switch planned := snap.Replacements(d); {
			case snapshot.SameObject(p.Object, d.Object):
				apply.Present = append(apply.Present, d.Object)
			case len(planned) == 0 || planned[0] == p: // it goes with the first of its planned
				gone = append(gone, action.DeleteDaemonSet{
					Object: d.Object, Why: p.Object.String() + " of " + file + " takes its place",
					Without: "from the delete until the pods of " + p.Object.String() + " are ready, some minutes, no volume of " + d.Provisioner + " can be mounted or unmounted on its nodes; mounted ones stay",
				})
			}
		}
	}
	if len(faults) > 0 {
		return []action.Action{action.ByHand{Object: file, Text: fmt.Sprintf("fix %s as %s asks, check again, and only then apply it", file, rules.And(slices.Sorted(maps.Keys(faults))))}}
	}
	return rules.Owned(snap, append(gone, apply))
}
