package ociimage

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/tarentry"
)

// maxTarballFiles bounds the index of a tarball. An image has two files a
// layer and a handful beside them.
const maxTarballFiles = 100_000

// section is where a file's content lies in a tarball.
type section struct{ offset, size int64 }

// imageTarball is an image tarball, indexed once and read in place.
type imageTarball struct {
	name  string
	r     io.ReaderAt
	files map[string]section
	links map[string]string // old `docker save` links equal layers
}

// indexTarball lists the files of a tarball without reading their content.
func indexTarball(ctx context.Context, name string, r io.ReadSeeker, at io.ReaderAt) (*imageTarball, error) {
	t := &imageTarball{name: name, r: at, files: map[string]section{}, links: map[string]string{}}
	tr := tar.NewReader(r)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return t, t.onlyFolders()
		}
		if errors.Is(err, tar.ErrFieldTooLong) {
			return nil, t.Fault(fmt.Sprintf("a tar header of more than %d bytes, which no image tarball has", tarentry.MaxHeader))
		}
		if err != nil {
			return nil, t.Fault("not a whole tar archive: " + err.Error())
		}
		if len(t.files)+len(t.links) >= maxTarballFiles {
			return nil, t.Fault(fmt.Sprintf("more than %d files, which no image tarball has", maxTarballFiles))
		}
		// archive/tar reads whole 512 byte blocks and seeks over content, so
		// after Next the file stands at the content's first byte.
		pos, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, Unreadable(name, err)
		}
		if err := t.Add(h, pos); err != nil {
			return nil, err
		}
	}
}

// Add files one entry. A second one of a name, and one whose content isn't what
// stands in the tarball, could only be there to say something else to another
// reader: some take the first, those that unpack the tarball get the last.
func (t *imageTarball) Add(h *tar.Header, pos int64) error {
	name, _ := tarentry.Name(h.Name)
	_, isFile := t.files[name]
	_, isLink := t.links[name]
	switch {
	case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case isFile || isLink:
		return t.Fault(printable.Quote(name) + " is in it twice")
	case h.Typeflag == tar.TypeGNUSparse || tarentry.Sparse(h):
		return t.Fault(printable.Quote(name) + " is a sparse file")
	}
	switch h.Typeflag {
	case tar.TypeReg:
		t.files[name] = section{pos, h.Size}
	case tar.TypeSymlink:
		t.links[name] = path.Join(path.Dir(name), h.Linkname)
	case tar.TypeLink:
		t.links[name] = path.Clean(h.Linkname)
	}
	return nil
}

// onlyFolders refuses files below links: where they land depends on the reader.
func (t *imageTarball) onlyFolders() error {
	for _, names := range []iter.Seq[string]{maps.Keys(t.files), maps.Keys(t.links)} {
		for name := range names {
			for dir := range tarentry.Above(name) {
				if _, isLink := t.links[dir]; isLink {
					return t.Fault(printable.Quote(name) + " lies below a link, " + printable.Quote(dir))
				}
			}
		}
	}
	return nil
}

// section finds a file, through links; false when there is none.
func (t *imageTarball) section(name string) (section, bool) {
	name, _ = tarentry.Name(name)
	for range tarentry.MaxLinkHops {
		target, ok := t.links[name]
		if !ok {
			break
		}
		name, _ = tarentry.Name(target)
	}
	s, ok := t.files[name]
	return s, ok
}

func (t *imageTarball) small(name string) ([]byte, error) {
	s, ok := t.section(name)
	if !ok {
		return nil, t.Fault("no file " + name + " in it")
	}
	if s.size > manifestLimit {
		return nil, t.Fault(fmt.Sprintf("%s has %d bytes, more than any manifest", name, s.size))
	}
	b := make([]byte, s.size)
	if n, err := t.r.ReadAt(b, s.offset); err != nil && int64(n) < s.size {
		return nil, t.Fault(fmt.Sprintf("cut off within %s (%d of %d bytes)", name, n, s.size))
	}
	return b, nil
}

func (t *imageTarball) Fault(what string) error { return damaged(t.name, what, t.fix()) }

func (t *imageTarball) fix() string {
	return "write or copy the tarball again: " + t.name
}

// tarballBlobs reads the blobs of a tarball; path names a blob's file.
type tarballBlobs struct {
	*imageTarball
	path func(v1.Hash) string
}

var _ blobStore = tarballBlobs{}

func (t tarballBlobs) where(d v1.Descriptor) string { return t.name + ": " + t.path(d.Digest) }

func (t tarballBlobs) stat(d v1.Descriptor) (int64, error) {
	s, ok := t.section(t.path(d.Digest))
	if !ok {
		return 0, damaged(t.where(d), "this blob of the image is missing in the tarball", t.fix())
	}
	return s.size, nil
}

func (t tarballBlobs) open(d v1.Descriptor) (io.ReadCloser, error) {
	if _, err := t.stat(d); err != nil {
		return nil, err
	}
	s, _ := t.section(t.path(d.Digest))
	return io.NopCloser(io.NewSectionReader(t.r, s.offset, s.size)), nil
}

func loadTarball(ctx context.Context, kind Kind, name string) (*Source, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, Unreadable(name, err)
	}
	s, err := openTarball(ctx, kind, name, f)
	if err != nil {
		_ = f.Close() // only read
		return nil, err
	}
	s.closer = f
	return s, nil
}

func openTarball(ctx context.Context, kind Kind, name string, f *os.File) (*Source, error) {
	t, err := indexTarball(ctx, name, f, f)
	if err != nil {
		return nil, err
	}
	if kind == KindDockerArchive {
		return loadDockerArchive(ctx, t)
	}
	return loadOCIArchive(t, name)
}

func loadOCIArchive(t *imageTarball, name string) (*Source, error) {
	mark, err := t.small(layoutFile)
	if err != nil {
		return nil, err
	}
	raw, err := t.small(indexFile)
	if err != nil {
		return nil, err
	}
	return sourceOfLayout(tarballBlobs{t, blobPath}, mark, raw, name, func(file string) string { return name + ": " + file })
}

// tarballKind looks into a file for what makes it an image. A docker-archive
// of today's Docker holds an OCI layout too, which is the better one: it names
// its digests.
func tarballKind(name string) (Kind, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", Unreadable(name, err)
	}
	defer f.Close() // only read
	if err := refuseCompressed(name, f); err != nil {
		return "", err
	}
	t, err := indexTarball(context.Background(), name, f, f)
	if err != nil {
		return "", err
	}
	for _, known := range []struct {
		file string
		kind Kind
	}{{indexFile, KindOCIArchive}, {manifestFile, KindDockerArchive}, {layoutFile, KindOCIArchive}} {
		if _, ok := t.section(known.file); ok {
			return known.kind, nil
		}
	}
	for f := range t.files {
		if strings.HasPrefix(f, "blobs/") {
			return "", t.Fault("blobs but no " + indexFile + ": a truncated image tarball")
		}
	}
	return "", &fault.Error{
		What: "a tar archive without " + indexFile + " and " + manifestFile + ": not an image", Where: name,
		Fix: "give a tarball as `bake payload --tarball`, `skopeo copy ... oci-archive:F` or `docker save` write it",
	}
}

// refuseCompressed stops at a compressed tarball: it can't be read in place,
// and unpacking it to disk is the person's choice.
func refuseCompressed(name string, f *os.File) error {
	head := make([]byte, 4)
	n, _ := f.ReadAt(head, 0)
	tool := map[compression.Compression]string{compression.GZip: "gunzip -k ", compression.ZStd: "unzstd "}[Sniff(head[:n])]
	if tool == "" {
		return nil
	}
	return &fault.Error{
		What: "a compressed tarball, which can't be read in place", Where: name, Fix: tool + name,
	}
}
