package main

import (
	"slices"
	"strings"
)

// tree is a git tree, flat: path to blob id.
type tree map[string]string

// split parts the Go code of a program, in cmd and pkg, from what is around it. A fork's
// Dockerfiles and CI always differ from upstream's; its code only where
// somebody patched it. What is around tells releases with equal code apart, and
// a rebase from a backport. Tests are neither: they move with both.
func (t tree) split() (code, around tree) {
	code, around = tree{}, tree{}
	for path, blob := range t {
		root, _, _ := strings.Cut(path, "/")
		switch {
		case strings.HasSuffix(path, "_test.go"), root == "test", root == "tests":
		case (root == "cmd" || root == "pkg") && strings.HasSuffix(path, ".go"):
			code[path] = blob
		default:
			around[path] = blob
		}
	}
	return code, around
}

// differ lists the paths of files that aren't the same in t and o, or that
// only one of them has.
func (t tree) differ(o tree) []string {
	var out []string
	for path, blob := range t {
		if o[path] != blob {
			out = append(out, path)
		}
	}
	for path := range o {
		if _, ok := t[path]; !ok {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// key is equal for equal trees.
func (t tree) key() string {
	lines := make([]string, 0, len(t))
	for path, blob := range t {
		lines = append(lines, path+" "+blob)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
