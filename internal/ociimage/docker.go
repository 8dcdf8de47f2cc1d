package ociimage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/stream"
)

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
