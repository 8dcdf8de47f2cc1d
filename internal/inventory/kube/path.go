package kube

import (
	"fmt"
	"slices"
	"strings"
)

// dotted writes a path as people know it: spec.containers[0].image.
func dotted(path []any) string {
	var b strings.Builder
	for _, p := range path {
		switch p := p.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", p)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, p)
		}
	}
	return b.String()
}

// pointer writes a path as a JSON pointer: /spec/containers/0.
func pointer(path []any) string {
	var b strings.Builder
	for _, p := range path {
		fmt.Fprintf(&b, "/%v", p)
	}
	return b.String()
}

// below makes a path under base, without touching base's array.
func below(base []any, more ...any) []any { return append(slices.Clip(base), more...) }
