package oci

import (
	"archive/tar"
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/tarentry"
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
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return t, t.onlyFolders()
		}
		if errors.Is(err, tar.ErrFieldTooLong) {
			return nil, t.fault(fmt.Sprintf("a tar header of more than %d bytes, which no image tarball has", tarentry.MaxHeader))
		}
		if err != nil && n == 0 {
			return nil, noImage(name, "not a tar archive: "+err.Error())
		}
		if err != nil {
			return nil, t.fault("not a whole tar archive: " + err.Error())
		}
		if len(t.files)+len(t.links) >= maxTarballFiles {
			return nil, t.fault(fmt.Sprintf("more than %d files, which no image tarball has", maxTarballFiles))
		}
		// archive/tar reads whole 512 byte blocks and seeks over content, so
		// after Next the file stands at the content's first byte.
		pos, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, Unreadable(name, err)
		}
		if err := t.add(h, pos); err != nil {
			return nil, err
		}
	}
}

// add files one entry. A second one of a name, and one whose content isn't what
// stands in the tarball, could only be there to say something else to another
// reader: some take the first, those that unpack the tarball get the last.
func (t *imageTarball) add(h *tar.Header, pos int64) error {
	name, _ := tarentry.Name(h.Name)
	_, isFile := t.files[name]
	_, isLink := t.links[name]
	switch {
	case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
		return nil
	case isFile || isLink:
		return t.fault(printable.Quote(name) + " is in it twice")
	case h.Typeflag == tar.TypeGNUSparse || tarentry.Sparse(h):
		return t.fault(printable.Quote(name) + " is a sparse file")
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
					return t.fault(printable.Quote(name) + " lies below a link, " + printable.Quote(dir))
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

func (t *imageTarball) open(name string) (io.ReadCloser, int64, error) {
	s, ok := t.section(name)
	if !ok {
		return nil, 0, &fault.Error{What: "no file " + name + " in it", Where: t.name, Fix: t.fix(), Err: fs.ErrNotExist, Code: finding.ExitBlock}
	}
	return io.NopCloser(io.NewSectionReader(t.r, s.offset, s.size)), s.size, nil
}

func (t *imageTarball) place(name string) string {
	if name == "" {
		return t.name
	}
	return t.name + ": " + name
}

func (t *imageTarball) fix() string { return "write or copy the tarball again: " + t.name }

func (t *imageTarball) fault(what string) error { return damaged(t.name, what, t.fix()) }

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
	if err := refuseCompressed(name, f); err != nil {
		return nil, err
	}
	t, err := indexTarball(ctx, name, f, f)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		if kind, err = t.kind(); err != nil {
			return nil, err
		}
	}
	if kind == KindDockerArchive {
		return loadDockerArchive(ctx, t)
	}
	return loadLayout(t, KindOCIArchive)
}

// kind tells what makes the tarball an image. A docker-archive of today's Docker
// holds an OCI layout too, which is the better one: it names its digests.
func (t *imageTarball) kind() (Kind, error) {
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
			return "", t.fault("blobs but no " + indexFile + ": a truncated image tarball")
		}
	}
	return "", noImage(t.name, "a tar archive without "+indexFile+" and "+manifestFile+": not an image")
}

// noImage is the fault of a file that never was one: there is nothing to check.
func noImage(name, what string) error {
	return &fault.Error{What: what, Where: name, Fix: "give a tarball as `bake payload --tarball`, `skopeo copy ... oci-archive:F` or `docker save` write it"}
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

// dockerImage is one entry of a docker-archive's manifest.json:
// https://github.com/moby/docker-image-spec/blob/main/spec.md
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// loadDockerArchive makes a manifest for an archive that has none: Docker's
// format names no digests, so configuration and layers are hashed once.
func loadDockerArchive(ctx context.Context, t *imageTarball) (*Source, error) {
	d, err := dockerManifest(t)
	if err != nil {
		return nil, err
	}
	m := &v1.Manifest{SchemaVersion: 2, MediaType: types.DockerManifestSchema2}
	if m.Config, err = dockerConfig(t, d.Config); err != nil {
		return nil, err
	}
	paths := map[v1.Hash]string{m.Config.Digest: d.Config}
	for _, name := range d.Layers {
		l, err := dockerLayer(ctx, t, name)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, l)
		paths[l.Digest] = name
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest of %s: %w", t.name, err)
	}
	root := inMemory(raw).desc
	root.MediaType = m.MediaType
	s := &Source{Kind: KindDockerArchive, Name: t.name}
	s.store = localStore{t, func(h v1.Hash) string { return paths[h] }, map[v1.Hash][]byte{root.Digest: raw}}
	return s, s.openRoot(root, t.name)
}

func dockerManifest(t *imageTarball) (*dockerImage, error) {
	raw, err := small(t, manifestFile)
	if err != nil {
		return nil, err
	}
	var images []dockerImage
	if err := json.Unmarshal(raw, &images); err != nil {
		return nil, t.fault(manifestFile + " isn't that of an image tarball: " + err.Error())
	}
	if len(images) == 1 {
		return &images[0], nil
	}
	var names []string
	for _, i := range images {
		names = append(names, strings.Join(i.RepoTags, ", "))
	}
	return nil, &fault.Error{
		What: fmt.Sprintf("holds %d images, where one is needed", len(images)), Where: t.name,
		Excerpt: strings.Join(names, "\n"), Fix: "docker save -o FILE IMAGE, with one image",
	}
}

// hexName finds the digest in a configuration's name, which all writers give:
// "<hex>.json", "sha256:<hex>", "blobs/sha256/<hex>".
var hexName = regexp.MustCompile(`^(?:sha256:)?([0-9a-f]{64})(?:\.json)?$`)

func dockerConfig(t *imageTarball, name string) (v1.Descriptor, error) {
	raw, err := small(t, name)
	if err != nil {
		return v1.Descriptor{}, err
	}
	d := inMemory(raw).desc
	d.MediaType = types.DockerConfigJSON
	if m := hexName.FindStringSubmatch(path.Base(name)); m != nil && m[1] != d.Digest.Hex {
		return d, damaged(t.place(name), "its bytes have the digest "+d.Digest.String(), t.fix())
	}
	return d, nil
}

func dockerLayer(ctx context.Context, t *imageTarball, name string) (d v1.Descriptor, err error) {
	r, size, err := t.open(name)
	if err != nil {
		return d, t.fault("no layer " + name + " in it")
	}
	br := bufio.NewReader(stream.NewReader(ctx, r))
	head, _ := br.Peek(4) // a shorter one is told below
	d.MediaType = map[compression.Compression]types.MediaType{
		compression.None: types.DockerUncompressedLayer, compression.GZip: types.DockerLayer, compression.ZStd: types.OCILayerZStd,
	}[Sniff(head)]
	if d.Digest, d.Size, err = v1.SHA256(br); err != nil {
		return d, err
	}
	if d.Size != size {
		return d, t.fault(fmt.Sprintf("cut off within %s (%d of %d bytes)", name, d.Size, size))
	}
	return d, nil
}
