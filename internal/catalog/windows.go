package catalog

import (
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"
)

// Windows builds from which on a host runs containers of older builds.
const (
	server2022 = 20348
	Server2025 = 26100
)

// HasImageFor tells whether containerd on a node runs one of the line's images
// in a container that isn't HostProcess. build is the node's Windows build,
// runtime its status.nodeInfo.containerRuntimeVersion, "" where that isn't known.
func (l *Line) HasImageFor(build int, runtime string) bool {
	return slices.ContainsFunc(l.Builds, func(image int) bool { return RunsImage(image, build, runtime) })
}

// RunsImage tells whether containerd on a node, both as in HasImageFor, runs an image
// of a Windows build.
func RunsImage(image, build int, runtime string) bool {
	return oldestImage(build, runtime) <= image && image <= build
}

// oldestImage is the oldest Windows build whose images a host runs; the newest
// is its own. The rule came with Windows Server 2022 and has changed twice, read
// tag by tag in containerd's platforms folder and, from 1.7.19 on, in
// https://github.com/containerd/platforms (v0.2.1, v1.0.0-rc.0 to rc.4):
//
//	before 1.6.23 and 1.7.6  the very build
//	before 2.2               from Windows Server 2022 on
//	from 2.2 on              from the Windows Server release before the host's on
//
// A runtime that isn't known is taken for one that every WMCO since 7.1.1 fits:
// newer than 1.6.23, and maybe newer than 2.2.
func oldestImage(build int, runtime string) int {
	v, err := semver.NewVersion(strings.TrimPrefix(runtime, "containerd://"))
	known := err == nil
	switch {
	case build < server2022 || known && v.LessThan(stableABI(v)):
		return build
	case build > Server2025 && !(known && v.LessThan(semver.New(2, 2, 0, "", ""))):
		return Server2025
	}
	return server2022
}

// HostProcessOn tells what a container runtime, as in oldestImage, makes of
// HostProcess containers: whether it runs them, and whether it binds their volumes to
// the paths that they are mounted at. containerd runs them from 1.6 on; 1.6 has
// their volumes below $CONTAINER_SANDBOX_MOUNT_POINT alone, 1.7 binds them
// (https://kubernetes.io/docs/tasks/configure-pod-container/create-hostprocess-pod/,
// KEP-1981, Container Mounts). Docker runs none. known is false for any other.
func HostProcessOn(runtime string) (runs, binds, known bool) {
	if strings.HasPrefix(runtime, "docker://") {
		return false, false, true
	}
	text, containerd := strings.CutPrefix(runtime, "containerd://")
	v, err := semver.NewVersion(text)
	if !containerd || err != nil {
		return false, false, false
	}
	at := func(minor uint64) bool { return v.Major() > 1 || v.Major() == 1 && v.Minor() >= minor }
	return at(6), at(7), true
}

// stableABI is the first release of v's line in which newer hosts run older
// images.
func stableABI(v *semver.Version) *semver.Version {
	if v.Major() == 1 && v.Minor() < 7 {
		return semver.New(1, 6, 23, "", "")
	}
	return semver.New(1, 7, 6, "", "")
}
