package inventory

import (
	"slices"
	"strings"
)

// Gather is how something gets into a must-gather that lacks it. Its texts are as
// a shell reads them.
type Gather struct {
	// First is a line that comes before all others: what unpacks an archive.
	First string
	// Inspect are words of oc adm inspect, which adds to the folder Into; In is the
	// namespace of what they name, "" for none.
	Inspect  []string
	In, Into string
	// List is a line that writes a file with all objects of a kind.
	List string
}

// GatherLines are the commands that do all of it, each once: oc adm inspect takes
// what is of one namespace, or of none, together.
func GatherLines(list []*Gather) []string {
	var first, inspect, lists []string
	words, into := map[string][]string{}, ""
	var in []string
	for _, g := range list {
		if g.First != "" && !slices.Contains(first, g.First) {
			first = append(first, g.First)
		}
		if g.List != "" && !slices.Contains(lists, g.List) {
			lists = append(lists, g.List)
		}
		if len(g.Inspect) > 0 && !slices.Contains(in, g.In) {
			in = append(in, g.In)
		}
		for _, w := range g.Inspect {
			into = g.Into
			if !slices.Contains(words[g.In], w) {
				words[g.In] = append(words[g.In], w)
			}
		}
	}
	for _, namespace := range in {
		line := "oc adm inspect " + strings.Join(words[namespace], " ")
		if namespace != "" {
			line += " -n " + namespace
		}
		inspect = append(inspect, line+" --dest-dir="+into)
	}
	return slices.Concat(first, inspect, lists)
}
