package ociimage

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"

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
