package shell

import (
	"cmp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Replace writes other words for the first words of commands: for oc, or for verify
// skew. What is quoted is no command, and xargs -r oc is one. A text that isn't a
// shell's stays as it is.
func Replace(text string, words map[string]string) string {
	f, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return text
	}
	type part struct {
		from, to uint
		text     string
	}
	var parts []part
	syntax.Walk(f, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		args := call.Args
		if len(args) > 2 && args[0].Lit() == "xargs" {
			args = args[2:]
		}
		for i := range min(len(args), 2) {
			first := args[0].Lit()
			if i == 1 {
				first += " " + args[1].Lit()
			}
			if by, ok := words[first]; ok {
				parts = append(parts, part{args[0].Pos().Offset(), args[i].End().Offset(), by})
			}
		}
		return true
	})
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(b.from, a.from) })
	for _, p := range parts {
		text = text[:p.from] + p.text + text[p.to:]
	}
	return text
}
