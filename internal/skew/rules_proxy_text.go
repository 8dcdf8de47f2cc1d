package skew

import (
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/inventory"
)

// mostNames is how many nodes or objects a text names before it counts.
const mostNames = 5

// someOf lists the first names and counts the others.
func someOf(names []string) string {
	names = slices.Clone(names)
	slices.Sort(names)
	return inventory.Some(slices.Compact(names))
}

// nodeNames are the names of nodes, sorted.
func nodeNames(nodes []*inventory.Node) []string {
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	slices.Sort(names)
	return names
}

// groups puts what has the same key together, sorted by key, so that one
// finding speaks of a set of nodes.
func groups[T any](items []T, key func(T) string) [][]T {
	sets := map[string][]T{}
	for _, item := range items {
		k := key(item)
		sets[k] = append(sets[k], item)
	}
	out := make([][]T, 0, len(sets))
	for _, k := range slices.Sorted(maps.Keys(sets)) {
		out = append(out, sets[k])
	}
	return out
}

// cite keeps the first places where facts were read; beyond a few nodes they
// say nothing new.
func cite(facts []inventory.Evidence) []inventory.Evidence {
	var out []inventory.Evidence
	for _, e := range facts {
		if e.Where != "" && !slices.Contains(out, e) && len(out) < mostNames {
			out = append(out, e)
		}
	}
	return out
}

// serviceNodes are the nodes of services.
func serviceNodes(ss []proxyService) []string {
	var names []string
	for _, s := range ss {
		names = append(names, s.node.Name)
	}
	slices.Sort(names)
	return names
}

func nodesOf(ss []proxyService) []*inventory.Node {
	var nodes []*inventory.Node
	for _, s := range ss {
		nodes = append(nodes, s.node)
	}
	return nodes
}

// serviceFacts is where services were read of.
func serviceFacts(ss []proxyService) []inventory.Evidence {
	var at []inventory.Evidence
	for _, s := range ss {
		at = append(at, s.at...)
	}
	return at
}
