package oci

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/stream"
)

// imageTarball is an image tarball, indexed once and read in place.
type imageTarball struct {
	name  string
	r     io.ReaderAt
	files map[string]section
	links map[string]string // old `docker save` links equal layers
}

// section is where a file's content is in a tarball.
type section struct{ offset, size int64 }

func loadTarball(ctx context.Context, kind Kind, name string) (s *Source, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, Unreadable(name, err)
	}
	if s, err = readTarball(ctx, kind, name, f); err != nil {
		_ = f.Close() // only read
		return nil, err
	}
	s.closer = f
	return s, nil
}

func readTarball(ctx context.Context, kind Kind, name string, f *os.File) (*Source, error) {
	head := make([]byte, 4)
	n, _ := f.ReadAt(head, 0)
	tools := map[compression.Compression]string{compression.GZip: "gunzip -k ", compression.ZStd: "unzstd "}
	if tool := tools[Sniff(head[:n])]; tool != "" {
		return nil, &fault.Error{What: "a compressed tarball, which can't be read in place", Where: name, Fix: tool + name}
	}
	t := &imageTarball{name: name, r: f, files: map[string]section{}, links: map[string]string{}}
	if err := t.list(ctx, f); err != nil {
		return nil, err
	}
	_, docker := t.files[manifestFile]
	_, index := t.files[indexFile]
	_, mark := t.files[layoutFile]
	store := localStore{read: t.read, name: name, sep: ": ", fixed: t.fix(), path: blobPath}
	switch {
	// An archive of today's Docker holds an OCI layout too, which is the better one:
	// it names its digests.
	case kind == KindDockerArchive, kind == "" && docker && !index:
		return loadDockerArchive(ctx, store)
	case kind == KindOCIArchive, index, mark:
		return loadLayout(store, KindOCIArchive)
	}
	return nil, noImage(name, "a tar archive without "+indexFile+" and "+manifestFile+": not an image")
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

// noImage is the fault of a file that never was one: there is nothing to check.
func noImage(name, what string) error {
	return &fault.Error{What: what, Where: name, Fix: "give a tarball as `bake payload --tarball`, `skopeo copy ... oci-archive:F` or `docker save` write it"}
}

// list notes the files of a tarball without reading their content.
func (t *imageTarball) list(ctx context.Context, r io.ReadSeeker) error {
	tr := tar.NewReader(r)
	for n := 0; ; n++ {
		h, err := tr.Next()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && n == 0 && !errors.Is(err, tar.ErrFieldTooLong):
			return noImage(t.name, "not a tar archive: "+err.Error())
		case err != nil:
			return t.fault("not a whole tar archive: " + err.Error())
		}
		// archive/tar reads whole 512 byte blocks and seeks over content, so
		// after Next the file is at the content's first byte.
		pos, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return Unreadable(t.name, err)
		}
		if err := t.add(h, pos); err != nil {
			return err
		}
	}
}

// add notes one entry. A second one of a name could only be there to say
// something else to another reader: some take the first, those that unpack the
// tarball get the last.
func (t *imageTarball) add(h *tar.Header, pos int64) error {
	name := within(h.Name)
	_, isFile := t.files[name]
	_, isLink := t.links[name]
	switch {
	case h.Typeflag == tar.TypeDir || h.Typeflag == tar.TypeXGlobalHeader:
	case isFile || isLink:
		return t.fault(printable.Quote(name) + " is in it twice")
	case h.Typeflag == tar.TypeReg:
		t.files[name] = section{pos, h.Size}
	case h.Typeflag == tar.TypeSymlink:
		t.links[name] = path.Join(path.Dir(name), h.Linkname)
	case h.Typeflag == tar.TypeLink:
		t.links[name] = h.Linkname
	}
	return nil
}

// within is a name in the tarball as extractors take it: none leaves its folder.
func within(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// read finds a file, through a link.
func (t *imageTarball) read(name string) (io.ReadCloser, int64, error) {
	name = within(name)
	if target, ok := t.links[name]; ok {
		name = within(target)
	}
	s, ok := t.files[name]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return io.NopCloser(io.NewSectionReader(t.r, s.offset, s.size)), s.size, nil
}

func (t *imageTarball) fix() string { return "write or copy the tarball again: " + t.name }

func (t *imageTarball) fault(what string) error { return damaged(t.name, what, t.fix()) }

// loadDockerArchive makes a manifest for an archive that has none: Docker's
// format names no digests, so configuration and layers are hashed once. The
// images of go-containerregistry's tarball compress all layers to tell theirs.
func loadDockerArchive(ctx context.Context, t localStore) (*Source, error) {
	d, err := dockerManifest(t)
	if err != nil {
		return nil, err
	}
	m := &v1.Manifest{SchemaVersion: 2, MediaType: types.DockerManifestSchema2}
	config, err := t.small(d.Config)
	if err != nil {
		return nil, err
	}
	m.Config = inMemory(config).desc
	m.Config.MediaType = types.DockerConfigJSON
	// All writers name it by its digest, in one of three ways.
	name := strings.TrimPrefix(strings.TrimSuffix(path.Base(d.Config), ".json"), "sha256:")
	if _, err := v1.NewHash("sha256:" + name); err == nil && name != m.Config.Digest.Hex {
		return nil, t.damaged(d.Config, "its bytes have the digest "+m.Config.Digest.String())
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
	t.path, t.made = func(h v1.Hash) string { return paths[h] }, map[v1.Hash][]byte{root.Digest: raw}
	s := &Source{Kind: KindDockerArchive, Name: t.name, store: t}
	return s, s.openRoot(root, t.name)
}

func dockerManifest(t localStore) (*tarball.Descriptor, error) {
	raw, err := t.small(manifestFile)
	if err != nil {
		return nil, err
	}
	var images tarball.Manifest
	if err := json.Unmarshal(raw, &images); err != nil {
		return nil, t.damaged(manifestFile, "isn't that of an image tarball: "+err.Error())
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

func dockerLayer(ctx context.Context, t localStore, name string) (d v1.Descriptor, err error) {
	r, size, err := t.file(name, "this layer of the image is missing")
	if err != nil {
		return d, err
	}
	br := bufio.NewReader(stream.NewReader(ctx, r))
	head, _ := br.Peek(4) // a shorter one is told below
	d.MediaType = map[compression.Compression]types.MediaType{
		compression.None: types.DockerUncompressedLayer, compression.GZip: types.DockerLayer, compression.ZStd: types.OCILayerZStd,
	}[Sniff(head)]
	d.Digest, d.Size, err = v1.SHA256(br)
	if err == nil && d.Size != size {
		err = t.damaged(name, fmt.Sprintf("cut off (%d of %d bytes)", d.Size, size))
	}
	return d, err
}
