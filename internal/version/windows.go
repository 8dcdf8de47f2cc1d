package version

import (
	"strconv"
	"strings"
)

// WindowsBuild is the build of a Windows version, the third number of
// 10.0.20348.2340; 0 for anything else.
func WindowsBuild(osVersion string) int {
	parts := strings.Split(osVersion, ".")
	if len(parts) < 3 || parts[0] != "10" || parts[1] != "0" {
		return 0
	}
	build, err := strconv.Atoi(parts[2])
	if err != nil || build < 0 {
		return 0
	}
	return build
}
