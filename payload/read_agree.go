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
	images, err := s.exported()
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

// exported returns the images that the source's index names and its tarball
// holds: containerd's exporter writes the whole index and leaves out what is
// for other platforms. One of them that isn't judged counts only when its
// configuration, which `docker load` goes by, says what the index does: an
// image that lies of its platform would be loaded in place of what was checked.
func (s *Source) exported() ([]v1.Image, error) {
	if s.index == nil {
		return []v1.Image{s.image}, nil
	}
	var images []v1.Image
	c := imageCollector{source: s, seen: map[v1.Hash]bool{}}
	c.entry = func(idx v1.ImageIndex, d v1.Descriptor) error {
		if !d.MediaType.IsImage() {
			return nil
		}
		img, err := idx.Image(d.Digest)
		if err != nil {
			return err
		}
		ok, err := c.truthful(d, img)
		if ok {
			images = append(images, img)
		}
		return err
	}
	return images, c.root()
}

func (c *imageCollector) truthful(d v1.Descriptor, img v1.Image) (bool, error) {
	if d.Platform == nil || c.wants(*d.Platform) {
		return true, nil
	}
	m, err := img.Manifest()
	if err != nil || c.lacks(m.Config) {
		return false, err
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return false, c.source.config(img, err)
	}
	says, is := normal(*d.Platform), normal(v1.Platform{OS: cf.OS, Architecture: cf.Architecture})
	return says.OS == is.OS && says.Architecture == is.Architecture, nil
}

func (t *imageTarball) isOneOf(ctx context.Context, e dockerImage, images []v1.Image) (bool, error) {
	for _, i := range images {
		m, err := i.Manifest()
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
