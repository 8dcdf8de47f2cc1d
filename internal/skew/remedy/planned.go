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

// plannedChanges apply what was planned for a driver, a file each: a file may
// hold several DaemonSets, and replaces what each of them replaces. None where
// nothing was planned for it.
func plannedChanges(snap *snapshot.Snapshot, d *inventory.Driver) []action.Action {
	var list []action.Action
	var files []string
	for _, p := range snap.PlannedFor(d) {
		if file := snapshot.PlannedFile(p); !slices.Contains(files, file) {
			files = append(files, file)
			list = append(list, PlannedFileChange(snap, file)...)
		}
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
			if list, rule := snap.Unsuitable(d); slices.Contains(list, p) {
				faults[rule] = true
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
	return append(gone, apply)
}
