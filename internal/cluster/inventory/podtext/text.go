package podtext

import (
	_ "crypto/sha256" // digests of images don't parse without it
	_ "crypto/sha512" // nor these
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/distribution/reference"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

var (
	slashes  = regexp.MustCompile(`[\\/]+`)
	drive    = regexp.MustCompile(`^[A-Za-z]:(?:[\\/]|$)`)
	anyDrive = regexp.MustCompile(`(?:^|[^A-Za-z])[A-Za-z]:\\`)
	// pipe is \\.\pipe\csi-proxy-disk-v1 after its slashes were made one each.
	pipe = regexp.MustCompile(`(?i)^(?:npipe:)?/\./pipe/csi-proxy-([a-z]+)-(v[0-9]+(?:(?:alpha|beta)[0-9]+)?)$`)
)

// Slashed writes a path with single forward slashes: manifests have
// C:\var\lib, C:\\var\\lib, \var\lib and C:/var/lib for the same folder.
func Slashed(path string) string {
	if !strings.Contains(path, `\`) && !strings.Contains(path, "//") {
		return path
	}
	return slashes.ReplaceAllString(path, "/")
}

// IsWindowsPath tells whether only Windows has such a path.
func IsWindowsPath(path string) bool {
	return drive.MatchString(path) || strings.HasPrefix(path, `\`)
}

// NamesDrive tells whether a drive letter is in an argument or an address.
func NamesDrive(s string) bool { return anyDrive.MatchString(s) }

// ParsePipe reads a csi-proxy pipe's path.
func ParsePipe(path string) (group, version string, ok bool) {
	m := pipe.FindStringSubmatch(Slashed(strings.TrimSpace(path)))
	if m == nil {
		return "", "", false
	}
	return strings.ToLower(m[1]), strings.ToLower(m[2]), true
}

// SocketFolder is the folder below the kubelet's plugins that a path names: the
// driver's own, by convention its provisioner. Of a socket elsewhere it is the folder
// that holds it, where that reads like a provisioner; "" for a path that has none.
func SocketFolder(path string) string {
	parts := strings.Split(strings.Trim(Slashed(strings.TrimSpace(path)), "/"), "/")
	for i := len(parts) - 2; i >= 0; i-- {
		if name := strings.ToLower(parts[i]); name != "plugins" && name != "csi-plugins" {
			continue
		}
		folder := parts[i+1]
		// Below plugins/kubernetes.io the kubelet itself keeps mounts.
		if folder != "" && !strings.EqualFold(folder, "kubernetes.io") && !isSocket(folder) {
			return folder
		}
		break
	}
	if n := len(parts); n >= 2 && isSocket(parts[n-1]) && IsDomain(parts[n-2]) {
		return parts[n-2]
	}
	return ""
}

func isSocket(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".sock") }

var domain = regexp.MustCompile(`(?i)^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)+$`)

// IsDomain tells whether a name is written as the CSI specification wants a
// driver's: https://github.com/container-storage-interface/spec, GetPluginInfo.
func IsDomain(name string) bool { return len(name) <= 63 && domain.MatchString(name) }

// ErrTemplate is the error of an image reference that was never rendered.
var ErrTemplate = errors.New("a template that wasn't rendered")

var (
	// template takes ${X}, {{ x }}, $(X), %X% and <your x>.
	template = regexp.MustCompile(`\$\{|\{\{|\$\(|%[A-Z_]{2,}%|<[A-Za-z][A-Za-z _.-]*>`)
	// bareDigest is what a container runtime reports for an image that was
	// built or loaded on the node.
	bareDigest = regexp.MustCompile(`^[a-z0-9]+:[0-9a-f]{32,}$`)
)

// IsTemplate tells whether a text was never rendered.
func IsTemplate(s string) bool { return template.MatchString(s) }

// ParseImage takes an image reference apart. It adds nothing that isn't
// written: no docker.io, no latest. A status' imageID is read as well. What
// can't be read comes back with its Reference alone.
func ParseImage(ref string) (inventory.Image, error) {
	img := inventory.Image{Reference: ref}
	text := ref
	if _, rest, ok := strings.Cut(ref, "://"); ok { // docker-pullable://
		text = rest
	}
	switch {
	case text == "":
		return img, errors.New("there is no image")
	case strings.ContainsAny(text, " \t\r\n") && !strings.ContainsAny(text, "{<"):
		// A line below that isn't indented enough is part of a plain scalar.
		return img, fmt.Errorf("the image %s has a space in it: what stands below it was read as part of it", printable.Quote(ref))
	case strings.ContainsAny(text, "{(%<") && template.MatchString(text):
		return img, fmt.Errorf("image %s is %w", printable.Quote(ref), ErrTemplate)
	case bareDigest.MatchString(text):
		img.Digest = text
		return img, nil
	}
	parsed, err := reference.Parse(text)
	if err != nil {
		return img, fmt.Errorf("read the image reference %s: %w", printable.Quote(ref), err)
	}
	if named, ok := parsed.(reference.Named); ok {
		img.Repository = named.Name()
	}
	if tagged, ok := parsed.(reference.Tagged); ok {
		img.Tag = tagged.Tag()
	}
	if digested, ok := parsed.(reference.Digested); ok {
		img.Digest = digested.Digest().String()
	}
	return img, nil
}

// LastElement is the last element of a repository.
func LastElement(repository string) string {
	return strings.ToLower(repository[strings.LastIndexByte(repository, '/')+1:])
}
