package action

import (
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

// settled makes a DaemonSet's pods what its template says: rolled out, ready,
// registered on every node that it takes.
func settled(inv *inventory.Inventory, d *inventory.Driver) {
	d.Running = nil
	if r := d.Rollout; r != nil {
		d.Rollout = &inventory.Rollout{Desired: r.Desired, Ready: r.Desired, Updated: r.Desired, Observed: true}
	}
	if d.Provisioner == "" {
		return
	}
	inv.CSINodes = slices.Clone(inv.CSINodes)
	for i := range inv.CSINodes {
		c := &inv.CSINodes[i]
		n := slices.IndexFunc(inv.Nodes, func(n inventory.Node) bool { return n.Name == c.Name })
		if n >= 0 && d.Scheduling.Matches(inv.Nodes[n]) && !slices.Contains(c.Drivers, d.Provisioner) {
			c.Drivers = append(slices.Clip(c.Drivers), d.Provisioner)
		}
	}
}

// cutTag parts a reference that has no digest.
func cutTag(ref string) (repository, tag string) {
	if colon := strings.LastIndex(ref, ":"); colon > strings.LastIndex(ref, "/") {
		return ref[:colon], ref[colon+1:]
	}
	return ref, ""
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func some(names []string) string { return strings.Join(names, ", ") }

// pattern is a text as grep's basic regular expression.
func pattern(s string) string {
	return strings.NewReplacer(".", `\.`, "*", `\*`, "[", `\[`, `\`, `\\`, "^", `\^`, "$", `\$`).Replace(s)
}
