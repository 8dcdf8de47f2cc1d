package images

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
)

// validImage does what go-containerregistry's package validate does, for zstd
// too: everything that an image says of itself must be so.
func validImage(img v1.Image) error {
	m, err := img.Manifest()
	if err != nil {
		return err
	}
	raw, err := img.RawManifest()
	if err != nil {
		return err
	}
	if err := called("manifest", digestOfBytes(raw), img.Digest); err != nil {
		return err
	}
	config, err := img.RawConfigFile()
	if err != nil {
		return err
	}
	if m.Config.Digest.String() != digestOfBytes(config) || m.Config.Size != int64(len(config)) {
		return fmt.Errorf("configuration isn't what the manifest says")
	}
	c, err := img.ConfigFile()
	if err != nil {
		return err
	}
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	if len(layers) != len(m.Layers) || len(layers) != len(c.RootFS.DiffIDs) || c.RootFS.Type != "layers" {
		return fmt.Errorf("%d layers, %d in the manifest, root file system %+v", len(layers), len(m.Layers), c.RootFS)
	}
	for i, l := range layers {
		mt, merr := l.MediaType()
		d, derr := l.Digest()
		id, ierr := l.DiffID()
		if err := errors.Join(merr, derr, ierr); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
		if mt != m.Layers[i].MediaType || d != m.Layers[i].Digest || id != c.RootFS.DiffIDs[i] {
			return fmt.Errorf("layer %d isn't what manifest and configuration say: %s %s %s", i, mt, d, id)
		}
		if err := validLayer(l); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return nil
}

// called says whether something is called by its digest.
func called(what, digest string, name func() (v1.Hash, error)) error {
	h, err := name()
	if err != nil {
		return fmt.Errorf("%s of digest %s: %w", what, digest, err)
	}
	if h.String() != digest {
		return fmt.Errorf("%s of digest %s, called %s", what, digest, h)
	}
	return nil
}

func validLayer(l v1.Layer) error {
	digest, size, err := sumUp(l.Compressed)
	if err != nil {
		return err
	}
	if err := called("blob", digest, l.Digest); err != nil {
		return err
	}
	n, err := l.Size()
	if err != nil {
		return err
	}
	if n != size {
		return fmt.Errorf("%d bytes, said to be %d", size, n)
	}
	// Through a decoder of our own, then through the layer's.
	for _, open := range []func() (io.ReadCloser, error){func() (io.ReadCloser, error) {
		rc, err := l.Compressed()
		if err != nil {
			return nil, err
		}
		return rootfs.Inflate(rc)
	}, l.Uncompressed} {
		diffID, _, err := sumUp(open)
		if err != nil {
			return err
		}
		if err := called("tar", diffID, l.DiffID); err != nil {
			return err
		}
	}
	return nil
}

func sumUp(open func() (io.ReadCloser, error)) (string, int64, error) {
	rc, err := open()
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	n, err := io.Copy(h, rc)
	return fmt.Sprintf("sha256:%x", h.Sum(nil)), n, errors.Join(err, rc.Close())
}

func validIndex(idx v1.ImageIndex) error {
	m, err := idx.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range m.Manifests {
		var child oci.ImageOrIndex
		if d.MediaType.IsIndex() {
			sub, err := idx.ImageIndex(d.Digest)
			if err != nil {
				return err
			}
			if err := validIndex(sub); err != nil {
				return err
			}
			child = sub
		} else {
			img, err := idx.Image(d.Digest)
			if err != nil {
				return err
			}
			if err := validImage(img); err != nil {
				return fmt.Errorf("image %s: %w", d.Digest, err)
			}
			child = img
		}
		raw, err := child.RawManifest()
		if err != nil {
			return fmt.Errorf("%s: %w", d.Digest, err)
		}
		if digestOfBytes(raw) != d.Digest.String() || int64(len(raw)) != d.Size {
			return fmt.Errorf("%s isn't what the index says", d.Digest)
		}
	}
	return nil
}
