package oci

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/shell"
)

// prefixes are those of containers/image (podman, skopeo), which people who
// handle image files know. Each forces a kind.
var prefixes = map[string]Kind{
	"oci:": KindLayout, "oci-archive:": KindOCIArchive, "docker-archive:": KindDockerArchive, "dir:": KindDir, "docker://": KindRegistry,
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
