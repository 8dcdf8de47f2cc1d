package ociimage

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/stream"
)

// WriteTarball writes an image or index into one file: an OCI layout as a tar
// (skopeo's oci-archive). For an image, docker's manifest.json is in it too,
// so that `docker load` and `podman load` take it. It returns the digest.
//
// The same image gives the same file. It appears under its name when it is
// complete; before that, and after a kill, the name is what it was, and a file
// .NAME.winbake-* may be beside it, which the next run removes. What is there
// already and isn't a regular file is refused; a link is followed. Progress counts the bytes of all
// blobs.
func WriteTarball(ctx context.Context, file string, x ImageOrIndex, progress stream.Progress) (v1.Hash, error) {
	blobs, err := blobsOf(x)
	if err != nil {
		return v1.Hash{}, err
	}
	root := blobs[len(blobs)-1].desc
	entries, err := tarballEntries(x, root, blobs)
	if err != nil {
		return v1.Hash{}, err
	}
	if file, err = atomicfs.Target(file); err != nil {
		return v1.Hash{}, err
	}
	if err := prepareFile(file); err != nil {
		return v1.Hash{}, atomicfs.CantWrite(file, err)
	}
	err = atomicfs.PutFile(file, func(w io.Writer) error {
		return writeTarball(ctx, w, entries, stream.NewMeter(progress, sizeOf(blobs)))
	})
	if err != nil {
		return v1.Hash{}, atomicfs.CantWrite(file, err)
	}
	return root.Digest, nil
}

// prepareFile makes room for a file: its folder, and nothing of earlier runs in
// it.
func prepareFile(file string) error {
	if err := checkRegular(file); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return atomicfs.RemoveLeftovers(file, func(e os.DirEntry) bool { return e.Type().IsRegular() })
}

// tarballEntry is a file of the tarball, or a folder without a blob.
type tarballEntry struct {
	name string
	blob *blob
}

// tarballEntries puts what says what the tarball is first, so that readers
// know it before they come to the layers.
func tarballEntries(x ImageOrIndex, root v1.Descriptor, blobs []blob) ([]tarballEntry, error) {
	idx, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{root},
	})
	if err != nil {
		return nil, err
	}
	entries := []tarballEntry{
		{layoutFile, inMemory([]byte(layoutMark))},
		{indexFile, inMemory(idx)},
	}
	if img, ok := x.(v1.Image); ok {
		raw, err := dockerArchive(img)
		if err != nil {
			return nil, err
		}
		entries = append(entries, tarballEntry{manifestFile, inMemory(raw)})
	}
	entries = append(entries, tarballEntry{name: "blobs/"}, tarballEntry{name: "blobs/sha256/"})
	sorted := slices.SortedFunc(slices.Values(blobs), func(a, b blob) int {
		return cmp.Compare(a.desc.Digest.Hex, b.desc.Digest.Hex)
	})
	for _, b := range sorted {
		entries = append(entries, tarballEntry{blobPath(b.desc.Digest), &b})
	}
	return entries, nil
}

func inMemory(data []byte) *blob {
	b := &blob{data: data}
	b.desc.Digest, b.desc.Size, _ = v1.SHA256(bytes.NewReader(data)) // memory can be read
	return b
}

// dockerArchive is the manifest.json of `docker save`, which newer versions
// point into blobs/ too:
// https://github.com/moby/moby/blob/master/daemon/internal/image/tarexport/tarexport.go
func dockerArchive(img v1.Image) ([]byte, error) {
	m, err := img.Manifest()
	if err != nil {
		return nil, fmt.Errorf("read the image: %w", err)
	}
	one := struct {
		Config   string
		RepoTags []string
		Layers   []string
	}{Config: blobPath(m.Config.Digest)}
	for _, l := range m.Layers {
		one.Layers = append(one.Layers, blobPath(l.Digest))
	}
	return json.Marshal([]any{one})
}

func writeTarball(ctx context.Context, w io.Writer, entries []tarballEntry, m *stream.Meter) error {
	tw := tar.NewWriter(w)
	buf := make([]byte, stream.BufferSize)
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: e.name, Mode: 0o755, ModTime: time.Unix(0, 0)}
		if e.blob != nil {
			h.Typeflag, h.Mode, h.Size = tar.TypeReg, 0o644, e.blob.desc.Size
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		if e.blob == nil {
			continue
		}
		if err := e.blob.copyTo(ctx, tw, m, buf); err != nil {
			return err
		}
	}
	return tw.Close()
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
	paths := map[v1.Hash]string{}
	m := &v1.Manifest{SchemaVersion: 2, MediaType: types.DockerManifestSchema2}
	if m.Config, err = dockerConfig(t, d.Config); err != nil {
		return nil, err
	}
	paths[m.Config.Digest] = d.Config
	for _, name := range d.Layers {
		l, err := dockerLayer(ctx, t, name)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, l)
		paths[l.Digest] = name
	}
	return dockerSource(t, m, paths)
}

// dockerSource puts the made manifest in front of the archive's blobs.
func dockerSource(t *imageTarball, m *v1.Manifest, paths map[v1.Hash]string) (*Source, error) {
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("encode manifest of %s: %w", t.name, err)
	}
	h, n, err := v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	store := madeManifest{tarballBlobs{t, func(h v1.Hash) string { return paths[h] }}, h, raw}
	d := v1.Descriptor{MediaType: m.MediaType, Digest: h, Size: n}
	img, err := newStoredImage(store, d)
	return &Source{Name: t.name, Digest: h, image: img, blobs: store}, err
}

// madeManifest is a blobStore with one blob that stands in no file.
type madeManifest struct {
	tarballBlobs
	digest v1.Hash
	raw    []byte
}

func (m madeManifest) stat(d v1.Descriptor) (int64, error) {
	if d.Digest == m.digest {
		return int64(len(m.raw)), nil
	}
	return m.tarballBlobs.stat(d)
}

func (m madeManifest) open(d v1.Descriptor) (io.ReadCloser, error) {
	if d.Digest == m.digest {
		return io.NopCloser(bytes.NewReader(m.raw)), nil
	}
	return m.tarballBlobs.open(d)
}

func dockerManifest(t *imageTarball) (*dockerImage, error) {
	raw, err := t.small(manifestFile)
	if err != nil {
		return nil, err
	}
	var images []dockerImage
	if err := json.Unmarshal(raw, &images); err != nil {
		return nil, t.Fault(manifestFile + " isn't that of an image tarball: " + err.Error())
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
	raw, err := t.small(name)
	if err != nil {
		return v1.Descriptor{}, err
	}
	h, n, err := v1.SHA256(bytes.NewReader(raw))
	if err != nil {
		return v1.Descriptor{}, err
	}
	if m := hexName.FindStringSubmatch(path.Base(name)); m != nil && m[1] != h.Hex {
		return v1.Descriptor{}, damaged(t.name+": "+name, "its bytes have the digest "+h.String(), t.fix())
	}
	return v1.Descriptor{MediaType: types.DockerConfigJSON, Digest: h, Size: n}, nil
}

func dockerLayer(ctx context.Context, t *imageTarball, name string) (v1.Descriptor, error) {
	s, ok := t.section(name)
	if !ok {
		return v1.Descriptor{}, t.Fault("no layer " + name + " in it")
	}
	r := io.NewSectionReader(t.r, s.offset, s.size)
	h, n, err := v1.SHA256(stream.NewReader(ctx, r))
	if err != nil {
		return v1.Descriptor{}, err
	}
	if n != s.size {
		return v1.Descriptor{}, t.Fault(fmt.Sprintf("cut off within %s (%d of %d bytes)", name, n, s.size))
	}
	head := make([]byte, 4)
	k, _ := t.r.ReadAt(head[:min(4, s.size)], s.offset)
	mt := map[compression.Compression]types.MediaType{
		compression.None: types.DockerUncompressedLayer, compression.GZip: types.DockerLayer, compression.ZStd: types.OCILayerZStd,
	}[Sniff(head[:k])]
	return v1.Descriptor{MediaType: mt, Digest: h, Size: n}, nil
}
