package ociimage

import (
	"context"
	"io"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/registry"
)

func loadRegistry(ctx context.Context, ref string, o Options) (*Source, error) {
	client, err := o.client(ref, false)
	if err != nil {
		return nil, err
	}
	s := &Source{Name: client.Ref.Context().Name(), remote: &remoteSource{client, ctx}}
	desc, err := try(s.remote, func() (*remote.Descriptor, error) { return remote.Get(client.Ref, client.Remote(ctx)...) })
	if err != nil {
		return nil, err
	}
	s.Digest = desc.Digest
	switch {
	case desc.MediaType.IsIndex():
		if s.index, err = desc.ImageIndex(); err == nil {
			s.index = registryIndex{s.index, s}
		}
	case desc.MediaType.IsImage():
		if s.image, err = desc.Image(); err == nil {
			s.image = s.registryImage(s.image)
		}
	default:
		err = &fault.Error{
			What: "neither an image nor an index: its media type is " + string(desc.MediaType), Where: ref,
			Fix: "give an image; artifacts of other kinds hold no payload",
		}
	}
	return s, err
}

type remoteSource struct {
	client *registry.Client
	ctx    context.Context // Load's, which bounds later reads
}

// try reads something, as often as it may help. Its error is a fault.
func try[T any](r *remoteSource, read func() (T, error)) (v T, err error) {
	err = r.client.Do(r.ctx, func() error {
		v, err = read()
		return err
	})
	if err != nil {
		err = r.client.Fault(r.ctx, err)
	}
	return v, err
}

// Fault turns an error of reading s into one for people. Local images give
// faults from the start; a registry's client doesn't.
func (s *Source) Fault(err error) error {
	if s.remote == nil || err == nil {
		return err
	}
	return s.remote.client.Fault(s.remote.ctx, err)
}

type remoteIndex = v1.ImageIndex

// registryIndex, registryImage and registryLayer are what a registry's client
// gives, but for what has to be fetched: that survives a cut connection.
type registryIndex struct {
	remoteIndex
	source *Source
}

func (i registryIndex) Image(h v1.Hash) (v1.Image, error) {
	img, err := try(i.source.remote, func() (v1.Image, error) { return i.remoteIndex.Image(h) })
	if err != nil {
		return nil, err
	}
	return i.source.registryImage(img), nil
}

func (i registryIndex) ImageIndex(h v1.Hash) (v1.ImageIndex, error) {
	idx, err := try(i.source.remote, func() (v1.ImageIndex, error) { return i.remoteIndex.ImageIndex(h) })
	if err != nil {
		return nil, err
	}
	return registryIndex{idx, i.source}, nil
}

type registryImage struct {
	v1.Image
	source *Source
	config func() ([]byte, error)
}

func (s *Source) registryImage(img v1.Image) v1.Image {
	i := registryImage{Image: img, source: s}
	i.config = sync.OnceValues(i.readConfig)
	return i
}

// readConfig reads it as any blob: after a cut, the client's RawConfigFile
// gives what it has of it as the whole.
func (i registryImage) readConfig() ([]byte, error) {
	l, err := partial.ConfigLayer(i.Image)
	if err != nil {
		return nil, i.source.Fault(err)
	}
	rc, err := i.source.OpenBlob(l)
	if err != nil {
		return nil, err
	}
	defer rc.Close() //nolint:errcheck // only read
	return io.ReadAll(rc)
}

func (i registryImage) RawConfigFile() ([]byte, error)      { return i.config() }
func (i registryImage) ConfigFile() (*v1.ConfigFile, error) { return partial.ConfigFile(i) }

func (i registryImage) Layers() ([]v1.Layer, error) {
	layers, err := i.Image.Layers()
	for n, l := range layers {
		layers[n] = registryLayer{l, i.source}
	}
	return layers, err
}

type registryLayer struct {
	v1.Layer
	source *Source
}

func (l registryLayer) Compressed() (io.ReadCloser, error) { return l.source.OpenBlob(l) }
