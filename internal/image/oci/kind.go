package oci

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

// The names that make a folder or a tarball an OCI image layout:
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md
const (
	layoutFile   = "oci-layout"
	indexFile    = "index.json"
	manifestFile = "manifest.json" // of a docker-archive
)

// refName is the annotation with an image's tag in a layout's index.json:
// https://github.com/opencontainers/image-spec/blob/main/annotations.md
const refName = "org.opencontainers.image.ref.name"

// prefixes are those of containers/image (podman, skopeo), which people who
// handle image files know.
var prefixes = []struct {
	text string
	kind Kind
}{
	{"oci:", KindLayout},
	{"oci-archive:", KindOCIArchive},
	{"docker-archive:", KindDockerArchive},
	{"dir:", KindDir},
	{"docker://", KindRegistry},
}

// prefixed returns the kind that a prefix of ref forces, "" for none, and the
// rest of it.
func prefixed(ref string) (Kind, string) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(ref, p.text); ok {
			return p.kind, rest
		}
	}
	return "", ref
}

func isFault(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return ok
}

func folderKind(dir string) (Kind, error) {
	for _, n := range []string{layoutFile, indexFile} {
		_, err := os.Stat(filepath.Join(dir, n))
		if err == nil {
			return KindLayout, nil
		}
		if !os.IsNotExist(err) {
			return "", Unreadable(filepath.Join(dir, n), err)
		}
	}
	return KindDir, nil
}

// registryHost matches references whose first part names a registry, as
// opposed to Docker Hub's short names. A short name is much more often a
// mistyped file than an image.
var registryHost = regexp.MustCompile(`^(localhost|\[[0-9a-fA-F:]+\]|[^/]*[.:@][^/]*)(:[0-9]+)?/`)

func looksLocal(ref string) bool {
	return strings.HasPrefix(ref, ".") || filepath.IsAbs(ref) || !registryHost.MatchString(ref)
}

// Unreadable is the fault of a reference that names no image that can be read.
func Unreadable(path string, err error) error {
	if os.IsNotExist(err) {
		return &fault.Error{
			What: "no such file or folder", Where: path, Err: fs.ErrNotExist,
			Fix: "give an OCI layout, an image tarball, a payload folder, or a reference that begins with its registry: quay.io/team/image@sha256:...",
		}
	}
	return &fault.Error{What: "can't be read: " + infile.Cause(err), Where: path, Err: err, Fix: "ls -ld " + shell.Word(path)}
}

// Sniff tells a compression by its first bytes. Media types aren't asked:
// tools get them wrong, and the bytes can't.
func Sniff(head []byte) compression.Compression {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return compression.GZip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return compression.ZStd
	}
	return compression.None
}

// IsAttachment tells what no engine runs, since no machine has its platform:
// BuildKit's attestations. Annotations don't count: engines choose by platform
// alone, and an annotation would hide the image that they choose.
func IsAttachment(d v1.Descriptor) bool {
	return d.Platform != nil && strings.EqualFold(d.Platform.OS, "unknown")
}

// IsDocument tells an attachment without a platform, such as a signature that
// cosign saves beside its image: none of its layers has a type that an engine
// unpacks.
func IsDocument(d v1.Descriptor, img v1.Image) (bool, error) {
	if d.Platform != nil {
		return false, nil
	}
	m, err := img.Manifest()
	if err != nil || len(m.Layers) == 0 {
		return false, err
	}
	return !slices.ContainsFunc(m.Layers, func(l v1.Descriptor) bool { return l.MediaType.IsLayer() }), nil
}

// PlatformOf is what an index says of an image, else the image's configuration.
func PlatformOf(d v1.Descriptor, img v1.Image) (v1.Platform, error) {
	if d.Platform != nil {
		return *d.Platform, nil
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return v1.Platform{}, err
	}
	return v1.Platform{OS: cf.OS, Architecture: cf.Architecture, Variant: cf.Variant, OSVersion: cf.OSVersion}, nil
}

// aliases are other words for architectures; container engines take either.
var aliases = map[string]string{"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64"}

// normal spells a platform as Go does, as container engines do before they
// compare: https://github.com/containerd/platforms/blob/main/database.go
func normal(p v1.Platform) v1.Platform {
	p.OS, p.Architecture = strings.ToLower(p.OS), strings.ToLower(p.Architecture)
	if a, ok := aliases[p.Architecture]; ok {
		p.Architecture = a
	}
	return p
}
