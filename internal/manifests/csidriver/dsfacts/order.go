package dsfacts

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// ByPlace puts the DaemonSet first, then the pod, then containers, each in
// alphabet.
func ByPlace(a, b string) int {
	return cmp.Or(rank(a)-rank(b), strings.Compare(a, b))
}

func rank(where string) int {
	switch place, _, _ := strings.Cut(where, "/"); place {
	case "daemonset":
		return 0
	case "pod":
		return 1
	}
	return 2
}

// IsContainer tells a container's place from those of pod and DaemonSet.
func IsContainer(place string) bool { return place != "pod" && place != "daemonset" }

// Whole keeps of a container that only one side has no more than its image:
// that it comes or goes is the change.
func Whole(before, after Facts) {
	for _, pair := range [][2]Facts{{before, after}, {after, before}} {
		here, there := pair[0], pair[1]
		for _, where := range slices.Collect(maps.Keys(here)) {
			place, what, _ := strings.Cut(where, "/")
			if IsContainer(place) && what == "image" && there[where] == "" {
				image := here[where]
				maps.DeleteFunc(here, func(w, _ string) bool { return strings.HasPrefix(w, place+"/") })
				here[place] = image
			}
		}
	}
}
