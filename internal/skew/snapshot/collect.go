package snapshot

import (
	"maps"
	"slices"
)

// Pointers are those to the elements of a list.
func Pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// Map is what a function makes of each element of a list.
func Map[T, U any](list []T, of func(T) U) []U {
	var out []U
	for _, e := range list {
		out = append(out, of(e))
	}
	return out
}

// Select are the elements of a list that a test takes.
func Select[T any](list []T, test func(T) bool) []T {
	var out []T
	for _, e := range list {
		if test(e) {
			out = append(out, e)
		}
	}
	return out
}

// First is the first element that a test takes; nil for none.
func First[T any](list []*T, test func(*T) bool) *T {
	if i := slices.IndexFunc(list, test); i >= 0 {
		return list[i]
	}
	return nil
}

// Part parts a list: the elements that a test takes, and the others.
func Part[T any](list []T, test func(T) bool) (yes, no []T) {
	return Select(list, test), Select(list, func(e T) bool { return !test(e) })
}

// Unique are the elements of a list, each once.
func Unique[T comparable](list []T) []T {
	var out []T
	for _, e := range list {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// GroupBy puts what has the same key together, sorted by key, so that one
// finding speaks of a set of nodes.
func GroupBy[T any](items []T, key func(T) string) [][]T {
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
