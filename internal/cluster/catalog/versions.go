package catalog

import (
	"github.com/winbake/winbake/internal/base/version"
)

func coreOf(v version.Driver) version.Driver {
	return version.Driver{Major: v.Major, Minor: v.Minor, Patch: v.Patch}
}

// inRange compares the cores of versions; until is the first that isn't in the range,
// "" for an open one.
func inRange(v version.Driver, from, until string) bool {
	v = coreOf(v)
	return v.Compare(coreOf(parseDriver(from))) >= 0 && (until == "" || v.Compare(coreOf(parseDriver(until))) < 0)
}

// The readers below are for text that the check has seen: what can't be read
// is the zero value.

func parseDriver(s string) version.Driver { v, _ := version.ParseDriver(s); return v }

func parseWMCO(s string) version.WMCO { v, _ := version.ParseWMCO(s); return v }

func parseMinor(s string) version.OpenShift { v, _ := version.ParseOpenShift(s); return v }

func compareDriver(a, b string) int { return parseDriver(a).Compare(parseDriver(b)) }

func compareWMCO(a, b string) int { return parseWMCO(a).Compare(parseWMCO(b)) }

func compareMinor(a, b string) int { return parseMinor(a).CompareMinor(parseMinor(b)) }
