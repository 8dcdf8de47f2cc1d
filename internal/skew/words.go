package skew

import (
	"fmt"
	"strings"

	"github.com/winbake/winbake/internal/version"
)

// few names up to three and counts the rest.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// many is "1 node", "2 nodes".
func many(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// releaseText is a release, or what stands for one that isn't known.
func releaseText(o version.OpenShift, unknown string) string {
	if o.IsZero() {
		return unknown
	}
	return "OpenShift " + o.String()
}

// and is "Nodes", "Nodes and Pods", "DaemonSets, Nodes and Pods".
func and(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
