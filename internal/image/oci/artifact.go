package oci

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/image/registry"
)

// emptyConfig is what an artifact has instead of an image's configuration:
// https://github.com/opencontainers/image-spec/blob/v1.1.1/manifest.md#guidance-for-an-empty-descriptor
const (
	emptyConfigType = "application/vnd.oci.empty.v1+json"
	emptyConfig     = "{}"
)

// artifact is an OCI 1.1 artifact of one blob.
type artifact struct {
	manifest []byte
	layer    v1.Layer
}

// NewReferrer makes an artifact of kind, a media type, that is about subject: one blob
// of that type, as it is.
func NewReferrer(kind string, annotations map[string]string, content []byte, subject v1.Descriptor) (v1.Image, error) {
	return newArtifact(kind, annotations, static.NewLayer(content, types.MediaType(kind)), &v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size})
}

// NewArtifact makes an artifact of kind, a media type: one blob, content compressed with
// zstd, in an image's form.
func NewArtifact(kind string, annotations map[string]string, content io.Reader) (v1.Image, error) {
	var blob bytes.Buffer
	w, err := zstd.NewWriter(&blob)
	if err != nil {
		return nil, err
	}
	if _, err = io.Copy(w, content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return newArtifact(kind, annotations, static.NewLayer(blob.Bytes(), types.MediaType(kind+"+zstd")), nil)
}

func newArtifact(kind string, annotations map[string]string, layer v1.Layer, subject *v1.Descriptor) (v1.Image, error) {
	desc, err := partial.Descriptor(layer)
	if err != nil {
		return nil, err
	}
	config, _, err := v1.SHA256(bytes.NewReader([]byte(emptyConfig)))
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: kind, Annotations: annotations, Layers: []v1.Descriptor{*desc}, Subject: subject,
		Config: v1.Descriptor{MediaType: emptyConfigType, Digest: config, Size: int64(len(emptyConfig))},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&artifact{manifest, layer})
}

func (a *artifact) RawManifest() ([]byte, error)                           { return a.manifest, nil }
func (a *artifact) RawConfigFile() ([]byte, error)                         { return []byte(emptyConfig), nil }
func (a *artifact) MediaType() (types.MediaType, error)                    { return types.OCIManifestSchema1, nil }
func (a *artifact) LayerByDigest(v1.Hash) (partial.CompressedLayer, error) { return a.layer, nil }

// ErrNotThere is for an artifact that a registry doesn't have.
var ErrNotThere = errors.New("not there")

// pause is how long a registry that failed once is left alone. Tests shorten it.
var pause = time.Second

// Artifacts reads artifacts of one repository.
type Artifacts struct {
	client *registry.Client
	puller *remote.Puller
}

// OpenArtifacts gets ready to read those of a repository, REGISTRY/REPOSITORY. It asks
// nothing yet.
func OpenArtifacts(ctx context.Context, repository string, o Options) (*Artifacts, error) {
	client, err := registry.New(repository, o)
	if err != nil {
		return nil, err
	}
	puller, err := remote.NewPuller(client.Remote(ctx)...)
	return &Artifacts{client, puller}, err
}

// Find returns the annotations of the artifact with a tag, and what opens its content.
// The error is ErrNotThere where there is none. A registry that failed is asked once
// more.
func (a *Artifacts) Find(ctx context.Context, kind, tag string) (annotations map[string]string, open func() (io.ReadCloser, error), err error) {
	ref := a.client.Ref.Context().Tag(tag)
	desc, err := twice(ctx, func() (*remote.Descriptor, error) { return a.puller.Get(ctx, ref) })
	if te, ok := errors.AsType[*transport.Error](err); ok && te.StatusCode == http.StatusNotFound {
		return nil, nil, ErrNotThere
	}
	if err != nil {
		return nil, nil, a.client.Fault(ctx, err)
	}
	var m v1.Manifest
	if err := json.Unmarshal(desc.Manifest, &m); err != nil || m.ArtifactType != kind || len(m.Layers) != 1 || m.Layers[0].MediaType != types.MediaType(kind+"+zstd") {
		return nil, nil, fmt.Errorf("%s isn't an artifact of bake", ref)
	}
	return m.Annotations, func() (io.ReadCloser, error) {
		layer, err := a.puller.Layer(ctx, ref.Context().Digest(m.Layers[0].Digest.String()))
		if err != nil {
			return nil, err
		}
		blob, err := twice(ctx, layer.Compressed)
		if err != nil {
			return nil, a.client.Fault(ctx, err)
		}
		z, err := zstd.NewReader(blob, zstd.WithDecoderMaxMemory(64<<20), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, errors.Join(err, blob.Close())
		}
		return struct {
			io.Reader
			io.Closer
		}{z, closer(func() error { z.Close(); return blob.Close() })}, nil
	}, nil
}

// Has asks whether there is an artifact with a tag.
func (a *Artifacts) Has(ctx context.Context, tag string) (bool, error) {
	_, err := twice(ctx, func() (*v1.Descriptor, error) { return a.puller.Head(ctx, a.client.Ref.Context().Tag(tag)) })
	if te, ok := errors.AsType[*transport.Error](err); ok && te.StatusCode == http.StatusNotFound {
		return false, nil
	}
	if err != nil {
		return false, a.client.Fault(ctx, err)
	}
	return true, nil
}

type closer func() error

func (c closer) Close() error { return c() }

// twice asks again where a registry failed and didn't answer that it won't.
func twice[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	got, err := ask()
	if te, ok := errors.AsType[*transport.Error](err); err == nil || ok && te.StatusCode < http.StatusInternalServerError && te.StatusCode != http.StatusTooManyRequests {
		return got, err
	}
	select {
	case <-ctx.Done():
		return got, err
	case <-time.After(pause):
	}
	return ask()
}

// Referrers are the contents of what refers to the image with a digest and is of kind,
// none of more than limit bytes.
func Referrers(ctx context.Context, repository string, image v1.Hash, kind string, limit int64, o Options) (contents [][]byte, err error) {
	client, err := registry.New(repository+"@"+image.String(), o)
	if err != nil {
		return nil, err
	}
	subject := client.Ref.Context().Digest(image.String())
	index, err := twice(ctx, func() (v1.ImageIndex, error) { return remote.Referrers(subject, client.Remote(ctx)...) })
	if err != nil {
		return nil, client.Fault(ctx, err)
	}
	list, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	for _, d := range list.Manifests {
		// Some registries tell the configuration's type in its place.
		if d.ArtifactType != kind && d.ArtifactType != "" && d.ArtifactType != emptyConfigType {
			continue
		}
		content, err := readReferrer(ctx, client, d.Digest, kind, limit)
		if err != nil {
			return nil, err
		}
		if content != nil {
			contents = append(contents, content)
		}
	}
	return contents, nil
}

// readReferrer is nil for one of another kind.
func readReferrer(ctx context.Context, client *registry.Client, digest v1.Hash, kind string, limit int64) ([]byte, error) {
	image, err := remote.Image(client.Ref.Context().Digest(digest.String()), client.Remote(ctx)...)
	if err != nil {
		return nil, client.Fault(ctx, err)
	}
	manifest, err := image.Manifest()
	if err != nil || manifest.ArtifactType != kind {
		return nil, err
	}
	layers, err := image.Layers()
	if err != nil || len(layers) != 1 {
		return nil, errors.Join(err, fmt.Errorf("%s has %d blobs, not one", digest, len(layers)))
	}
	blob, err := layers[0].Compressed()
	if err != nil {
		return nil, client.Fault(ctx, err)
	}
	defer blob.Close() //nolint:errcheck // only read
	content, err := io.ReadAll(io.LimitReader(blob, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", digest, limit)
	}
	return content, err
}

// Subjects are an image, or an index and each of its images: what referrers are about.
func Subjects(x ImageOrIndex) ([]v1.Descriptor, error) {
	own, err := partial.Descriptor(x)
	if err != nil {
		return nil, err
	}
	all := []v1.Descriptor{*own}
	if index, ok := x.(v1.ImageIndex); ok {
		m, err := index.IndexManifest()
		if err != nil {
			return nil, err
		}
		all = append(m.Manifests, all...)
	}
	return all, nil
}
