package payload

import (
	"context"
	"encoding/json"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// sameImages makes sure that manifest.json, which `docker load` reads, names no
// other image than index.json does, which everything else here reads.
func (t *imageTarball) sameImages(ctx context.Context, s *Source) error {
	raw, err := t.small(manifestFile)
	if err != nil {
		return err
	}
	var entries []dockerImage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return t.fault(manifestFile + " isn't that of an image tarball: " + err.Error())
	}
	images, err := s.Images()
	if err != nil {
		return err
	}
	for _, e := range entries {
		ok, err := t.isOneOf(ctx, e, images)
		if err != nil {
			return err
		}
		if !ok {
			return t.fault(manifestFile + ", which `docker load` reads, names another configuration or other layers than " + indexFile)
		}
	}
	return nil
}

func (t *imageTarball) isOneOf(ctx context.Context, e dockerImage, images []PlatformImage) (bool, error) {
	for _, i := range images {
		m, err := i.Image.Manifest()
		if err != nil {
			return false, err
		}
		if ok, err := t.isImage(ctx, e, m); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (t *imageTarball) isImage(ctx context.Context, e dockerImage, m *v1.Manifest) (bool, error) {
	if len(e.Layers) != len(m.Layers) {
		return false, nil
	}
	if ok, err := t.holds(ctx, e.Config, m.Config.Digest); !ok || err != nil {
		return false, err
	}
	for i, name := range e.Layers {
		if ok, err := t.holds(ctx, name, m.Layers[i].Digest); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// holds tells whether a file has a blob's bytes. All writers that make both
// files let them name the same ones; a copy elsewhere is hashed.
func (t *imageTarball) holds(ctx context.Context, name string, h v1.Hash) (bool, error) {
	s, ok := t.section(name)
	if !ok {
		return false, t.fault("no file " + shorten(name) + " in it, though " + manifestFile + " names it")
	}
	if blob, ok := t.section(blobPath(h)); ok && blob == s {
		return true, nil
	}
	got, _, err := v1.SHA256(&ctxReader{ctx, io.NewSectionReader(t.r, s.offset, s.size)})
	return err == nil && got == h, err
}
