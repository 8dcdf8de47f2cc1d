// Package version reads the versions that the field writes: tags of driver
// images, OpenShift releases, kubelets and csi-proxy builds.
//
// It isn't a general semver package: github.com/Masterminds/semver/v3 takes
// v1.29.2-windows-hp and v1.1.3-28-g0939e7a for pre-releases, which sort below
// their own release. A tag is split here into core, pre-release, distance and
// variant before anything is compared.
package version

import (
	"strconv"
	"strings"
)

// WindowsBuild is the build of a Windows version, the third number of
// 10.0.20348.2340; 0 for anything else.
func WindowsBuild(osVersion string) int { return windowsNumber(osVersion, 2) }

// WindowsRevision is the fourth number of a Windows version, 2340 of 10.0.20348.2340; 0
// for none.
func WindowsRevision(osVersion string) int {
	if WindowsBuild(osVersion) == 0 {
		return 0
	}
	return windowsNumber(osVersion, 3)
}

func windowsNumber(osVersion string, i int) int {
	parts := strings.Split(osVersion, ".")
	if len(parts) <= i || parts[0] != "10" || parts[1] != "0" {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil || n < 0 {
		return 0
	}
	return n
}
