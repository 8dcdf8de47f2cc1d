// Package oci reads and writes images: OCI layouts, tarballs of OCI and of
// docker, and registries, of which it is the program's only client together with
// package registry, its transport. Every blob that is read is checked against its
// digest; what is written takes its place as a whole.
//
// It knows nothing of what is in an image: package rootfs merges its layers.
package oci

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/image/registry"
)

// Kind is what a reference given to Load turned out to be.
type Kind string

// The kinds of sources.
const (
	KindRegistry      Kind = "registry"       // an image or index in a registry
	KindLayout        Kind = "layout"         // a folder with an OCI image layout
	KindOCIArchive    Kind = "oci-archive"    // a tarball of an OCI image layout
	KindDockerArchive Kind = "docker-archive" // a tarball as `docker save` writes it
	KindDir           Kind = "dir"            // the plain files of a payload
)

// prefixes are those of containers/image (podman, skopeo), which people who
// handle image files know. Each forces a kind.
var prefixes = map[string]Kind{
	"oci:": KindLayout, "oci-archive:": KindOCIArchive, "docker-archive:": KindDockerArchive, "dir:": KindDir, "docker://": KindRegistry,
}

// Options say how Load and Push reach an image.
type Options = registry.Options

// Source is an image, an index of images or a folder of files that may hold a
// payload. Nothing but manifests has been read when Load returns it, with one
// exception: the layers of a docker-archive are hashed, since nothing in it
// names their digests.
//
// Every blob that is read through a Source is checked against its digest and
// size. What doesn't match comes as an error that names the blob's place and
// what to do.
type Source struct {
	// Kind is what the reference is.
	Kind Kind
	// Ref is the reference as it was given, without a prefix such as "oci:".
	Ref string
	// Digest is the digest of the image's or the index's manifest; zero for
	// KindDir.
	Digest v1.Hash

	Name     string // what is before @ in Reference
	image    v1.Image
	index    v1.ImageIndex
	topLevel bool      // index is a layout's own index.json
	store    blobStore // nil for KindDir
	platform *v1.Platform
	closer   io.Closer // of a tarball
}

// Load finds out what ref is and opens it. An existing folder is an OCI
// layout when it holds oci-layout or index.json, else the files of a payload
// (what WriteDir writes). An existing file is a tarball: an OCI layout or what
// `docker save` writes. Anything else is a reference into a registry. The
// prefixes oci:, oci-archive:, docker-archive:, dir: and docker:// force a
// kind.
//
// ctx also bounds later reads from a registry. The caller closes the Source.
func Load(ctx context.Context, ref string, opts Options) (*Source, error) {
	kind, rest := Kind(""), ref
	for prefix, k := range prefixes {
		if after, ok := strings.CutPrefix(ref, prefix); ok {
			kind, rest = k, after
		}
	}
	var s *Source
	_, err := os.Stat(rest)
	if kind == KindRegistry || kind == "" && os.IsNotExist(err) && !looksLocal(ref) {
		s, err = loadRegistry(ctx, rest, opts)
	} else {
		s, err = loadLocal(ctx, kind, rest)
	}
	if err != nil {
		return nil, err
	}
	s.Ref, s.platform = rest, opts.Platform
	return s, nil
}

// registryHost matches references whose first part names a registry, as
// opposed to Docker Hub's short names. A short name is much more often a
// mistyped file than an image.
var registryHost = regexp.MustCompile(`^(localhost|\[[0-9a-fA-F:]+\]|[^/]*[.:@][^/]*)(:[0-9]+)?/`)

func looksLocal(ref string) bool {
	return strings.HasPrefix(ref, ".") || filepath.IsAbs(ref) || !registryHost.MatchString(ref)
}

// loadLocal opens a folder or a file of that kind; "" finds the kind out.
func loadLocal(ctx context.Context, kind Kind, path string) (*Source, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, Unreadable(path, err)
	case kind != "" && info.IsDir() != (kind == KindLayout || kind == KindDir):
		return nil, Unreadable(path, cmp.Or[error](infile.Check(info), syscall.ENOTDIR))
	case info.Mode().IsRegular():
		return loadTarball(ctx, kind, path)
	case !info.IsDir():
		return nil, &fault.Error{
			What: "neither a folder nor a regular file (" + info.Mode().Type().String() + ")", Where: path,
			Fix: "give an OCI layout, an image tarball, a payload folder or a registry reference",
		}
	}
	if kind == "" {
		kind = KindDir
		for _, n := range []string{layoutFile, indexFile} {
			if _, err := os.Stat(filepath.Join(path, n)); err == nil {
				kind = KindLayout
			} else if !os.IsNotExist(err) {
				return nil, Unreadable(filepath.Join(path, n), err)
			}
		}
	}
	if kind == KindDir {
		return &Source{Kind: kind, Name: path}, nil
	}
	return loadLayout(inFolder(path), KindLayout)
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

func isFault(err error) bool {
	_, ok := errors.AsType[*fault.Error](err)
	return ok
}

// Resolve opens an image that something is made of: a base, or what a node gets.
// In a registry it must be named by digest, since a tag may be another image
// tomorrow: a tag is refused with the reference by digest to paste. Local images
// are what their bytes are.
func Resolve(ctx context.Context, ref string, opts Options) (*Source, error) {
	s, err := Load(ctx, ref, opts)
	if err != nil {
		return nil, err
	}
	switch r, isRegistry := s.store.(*registryStore); {
	case s.Kind == KindDir:
		err = &fault.Error{
			What: "a plain folder isn't taken for an image here", Where: s.Ref,
			Fix: "give a registry reference by digest, an OCI layout or a tarball",
		}
	case isRegistry && !r.byDigest():
		err = &fault.Error{
			What: "the image is named by a tag, which may be another image tomorrow", Where: s.Ref,
			Fix: "name it by its digest: " + shell.Word(s.Reference()),
		}
	default:
		_, err = s.Images() // before anything large is read of it
	}
	if err != nil {
		_ = s.Close() // it was only read
		return nil, err
	}
	return s, nil
}

// Reference names the source by digest: "registry/repository@sha256:...", and
// for local images the path in place of the name. A KindDir has no digest and
// gives its path.
func (s *Source) Reference() string {
	if s.Kind == KindDir {
		return s.Name
	}
	return s.Name + "@" + s.Digest.String()
}

// Platform is Options.Platform.
func (s *Source) Platform() *v1.Platform { return s.platform }

// Index returns the index; nil when the source is a single image or a folder.
func (s *Source) Index() v1.ImageIndex { return s.index }

// Close closes an opened tarball. Images of the source can't be read any more.
func (s *Source) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// DamagedLayer is the fault of a layer that isn't what its image says.
func (s *Source) DamagedLayer(l v1.Layer, what string) error {
	return damaged(s.LayerPlace(l), what, s.store.fix())
}

// LayerPlace names a layer for people.
func (s *Source) LayerPlace(l v1.Layer) string {
	h, err := l.Digest()
	if err != nil {
		return s.Name
	}
	return s.store.where(v1.Descriptor{Digest: h})
}
