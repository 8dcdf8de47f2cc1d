package ociimage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/shell"
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

// kindOf tells what ref is and returns it without a prefix.
func kindOf(ref string) (Kind, string, error) {
	for _, p := range prefixes {
		rest, ok := strings.CutPrefix(ref, p.text)
		if !ok {
			continue
		}
		if p.kind == KindRegistry {
			return p.kind, rest, nil
		}
		_, err := localKind(rest)
		return p.kind, rest, err
	}
	kind, err := localKind(ref)
	if err == nil || !isMissing(err) {
		return kind, ref, err
	}
	if looksLocal(ref) {
		return "", "", err
	}
	return KindRegistry, ref, nil
}

func isMissing(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && f.Err != nil && os.IsNotExist(f.Err)
}

func localKind(path string) (Kind, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", Unreadable(path, err)
	}
	switch {
	case info.IsDir():
		return folderKind(path)
	case info.Mode().IsRegular():
		return tarballKind(path)
	}
	return "", &fault.Error{
		What: "neither a folder nor a regular file (" + info.Mode().Type().String() + ")", Where: path,
		Fix: "give an OCI layout, an image tarball, a payload folder or a registry reference",
	}
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
	if strings.HasPrefix(ref, ".") || filepath.IsAbs(ref) {
		return true
	}
	return !registryHost.MatchString(ref)
}

// Unreadable is the fault of a reference that names no image that can be read.
func Unreadable(path string, err error) error {
	if os.IsNotExist(err) {
		return &fault.Error{
			What: "no such file or folder", Where: path, Err: fs.ErrNotExist,
			Fix: "give an OCI layout, an image tarball, a payload folder, or a reference that begins with its registry: quay.io/team/image@sha256:...",
		}
	}
	return &fault.Error{What: "can't be read: " + reason(err), Where: path, Err: err, Fix: "ls -ld " + shell.Word(path)}
}

// reason strips the operation and the path that package os puts before the
// cause: the fault names the path already.
func reason(err error) string {
	if pe, ok := err.(*fs.PathError); ok { //nolint:errorlint // whoever wrapped it has more to say
		return pe.Err.Error()
	}
	return err.Error()
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

// wrongManifest says why engines could take a document for something else than
// the descriptor that names it does: the same bytes read as an image by one and
// as an index by another (CVE-2021-41190).
func wrongManifest(mt types.MediaType, raw []byte) string {
	var m struct {
		MediaType                           types.MediaType
		Config, Layers, FSLayers, Manifests json.RawMessage
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return "not a manifest: " + err.Error()
	}
	switch {
	case m.MediaType != "" && m.MediaType != mt:
		return fmt.Sprintf("it calls itself %s, and what names it says %s", m.MediaType, mt)
	case m.FSLayers != nil, m.Manifests != nil && (m.Config != nil || m.Layers != nil):
		return "an image and an index at once"
	case mt.IsImage() && m.Manifests != nil:
		return "an index under an image's media type"
	case mt.IsIndex() && (m.Config != nil || m.Layers != nil):
		return "an image under an index's media type"
	}
	return ""
}

// looksRunnable tells bytes that an engine could read as an image or an index.
func looksRunnable(raw []byte) bool {
	var m struct{ Config, Layers, FSLayers, Manifests json.RawMessage }
	err := json.NewDecoder(bytes.NewReader(raw)).Decode(&m)
	return err == nil && (m.Config != nil || m.Layers != nil || m.FSLayers != nil || m.Manifests != nil)
}

// judge is judgeable of an image or an index that is opened.
func (s *Source) judge(h v1.Hash, mt types.MediaType, of interface{ RawManifest() ([]byte, error) }) error {
	raw, err := of.RawManifest()
	if err != nil {
		return err
	}
	return s.judgeable(h, mt, raw)
}

// judgeable refuses an image or an index whose bytes don't decide what an
// engine makes of it, or that couldn't be held in memory.
func (s *Source) judgeable(h v1.Hash, mt types.MediaType, raw []byte) error {
	if len(raw) > manifestLimit { // a registry's client takes 100 MiB
		return damaged(s.blobPlace(h), fmt.Sprintf("%d bytes, more than any manifest", len(raw)), s.repair())
	}
	if wrong := wrongManifest(mt, raw); wrong != "" {
		return damaged(s.blobPlace(h), wrong, s.repair())
	}
	if mt.IsIndex() {
		return nil
	}
	var m v1.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return damaged(s.blobPlace(h), "not an image manifest: "+err.Error(), s.repair())
	}
	if m.Config.Size < 0 || m.Config.Size > manifestLimit {
		return damaged(s.blobPlace(h), fmt.Sprintf("its configuration is said to have %d bytes, the limit is %d", m.Config.Size, manifestLimit), s.repair())
	}
	if len(m.Layers) > maxLayers {
		return damaged(s.blobPlace(h), fmt.Sprintf("%d layers, the limit is %d", len(m.Layers), maxLayers), s.repair())
	}
	return nil
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
