package kube

import (
	"regexp"
	"strings"
)

var (
	slashes = regexp.MustCompile(`[\\/]+`)
	drive   = regexp.MustCompile(`^[A-Za-z]:(?:[\\/]|$)`)
	// anyDrive finds a drive letter inside of an argument or an address.
	anyDrive = regexp.MustCompile(`(?:^|[^A-Za-z])[A-Za-z]:\\`)
	// pipe is \\.\pipe\csi-proxy-disk-v1 after its slashes were made one each.
	pipe = regexp.MustCompile(`(?i)^(?:npipe:)?/\./pipe/csi-proxy-([a-z]+)-(v[0-9]+(?:(?:alpha|beta)[0-9]+)?)$`)
)

// slashed writes a path with single forward slashes: manifests have
// C:\var\lib, C:\\var\\lib, \var\lib and C:/var/lib for the same folder.
func slashed(path string) string { return slashes.ReplaceAllString(path, "/") }

// isWindowsPath tells whether only Windows has such a path.
func isWindowsPath(path string) bool {
	return drive.MatchString(path) || strings.HasPrefix(path, `\`)
}

// parsePipe reads a csi-proxy pipe's path.
func parsePipe(path string) (group, version string, ok bool) {
	m := pipe.FindStringSubmatch(slashed(strings.TrimSpace(path)))
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), strings.ToLower(m[2]), true
}

// pluginFolder is the folder below the kubelet's plugins that a path names: the
// driver's own, by convention its provisioner. "" for a path that has none.
func pluginFolder(path string) string {
	parts := strings.Split(strings.Trim(slashed(strings.TrimSpace(path)), "/"), "/")
	for i := len(parts) - 2; i >= 0; i-- {
		name := strings.ToLower(parts[i])
		if name != "plugins" && name != "csi-plugins" {
			continue
		}
		folder := parts[i+1]
		// Below plugins/kubernetes.io the kubelet itself keeps mounts.
		if folder == "" || strings.EqualFold(folder, "kubernetes.io") || isSocket(folder) {
			return ""
		}
		return folder
	}
	return ""
}

// socketFolder is pluginFolder of a socket's path, or the name of the folder
// that holds the socket, where that reads like a provisioner.
func socketFolder(path string) string {
	if folder := pluginFolder(path); folder != "" {
		return folder
	}
	parts := strings.Split(strings.Trim(slashed(strings.TrimSpace(path)), "/"), "/")
	if n := len(parts); n >= 2 && isSocket(parts[n-1]) && isDomain(parts[n-2]) {
		return parts[n-2]
	}
	return ""
}

func isSocket(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".sock") }

var domain = regexp.MustCompile(`(?i)^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+$`)

// isDomain tells whether a name is written as the CSI specification wants a
// driver's: https://github.com/container-storage-interface/spec, GetPluginInfo.
func isDomain(name string) bool { return len(name) <= 63 && domain.MatchString(name) }
