package intree

import (
	"fmt"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew/rules"
	"github.com/winbake/winbake/internal/skew/snapshot"
)

// nodes parts the Windows nodes: those where such a volume is, or where a
// pending pod may bring one, and the others, that a drained pod may move to.
func nodes(u snapshot.InTreeUse, all []*inventory.Node) (used, others []*inventory.Node) {
	on := map[string]bool{}
	for _, use := range u.Uses {
		on[use.Node] = true
	}
	return snapshot.Part(all, func(n *inventory.Node) bool { return on[""] || on[n.Name] })
}

func volumes(u snapshot.InTreeUse) string {
	var names []string
	for _, use := range u.Uses {
		what := "inline volume " + use.Volume
		switch {
		case use.Claim != "":
			what = "claim " + use.Claim
		case use.PV != "":
			what = "volume " + use.PV
		}
		names = append(names, fmt.Sprintf("%s/%s (%s)", use.Pod.Namespace, use.Pod.Name, what))
	}
	return rules.SomeOf(names)
}

func evidence(u snapshot.InTreeUse) []inventory.Evidence {
	return snapshot.Map(u.Uses, func(use inventory.VolumeUse) inventory.Evidence { return use.At })
}

func inUse(u snapshot.InTreeUse, name string, nodes []string) rules.Finding {
	return rules.Finding{Case: name, Facts: rules.Facts{"use": u, "volumes": volumes(u), "nodes": nodes}, Object: u.Plugin, Evidence: rules.Cite(evidence(u))}
}
