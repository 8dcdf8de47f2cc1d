package payload

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
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
	if d, err := img.Digest(); err != nil || d.String() != digestOfBytes(raw) {
		return fmt.Errorf("manifest of digest %s, called %s, %v", digestOfBytes(raw), d, err)
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
		if mt != m.Layers[i].MediaType || d != m.Layers[i].Digest || id != c.RootFS.DiffIDs[i] {
			return fmt.Errorf("layer %d isn't what manifest and configuration say: %s %s %s, %v", i, mt, d, id, errors.Join(merr, derr, ierr))
		}
		if err := validLayer(l); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return nil
}

func validLayer(l v1.Layer) error {
	digest, size, err := sumUp(l.Compressed)
	if err != nil {
		return err
	}
	if d, derr := l.Digest(); d.String() != digest {
		return fmt.Errorf("blob of digest %s, called %s, %v", digest, d, derr)
	}
	if n, nerr := l.Size(); n != size {
		return fmt.Errorf("%d bytes, said to be %d, %v", size, n, nerr)
	}
	// Through a decoder of our own, then through the layer's.
	for _, open := range []func() (io.ReadCloser, error){func() (io.ReadCloser, error) {
		rc, err := l.Compressed()
		if err != nil {
			return nil, err
		}
		return inflate(rc)
	}, l.Uncompressed} {
		diffID, _, err := sumUp(open)
		if err != nil {
			return err
		}
		if d, derr := l.DiffID(); d.String() != diffID {
			return fmt.Errorf("tar of digest %s, called %s, %v", diffID, d, derr)
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
		var child ImageOrIndex
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
		if err != nil || digestOfBytes(raw) != d.Digest.String() || int64(len(raw)) != d.Size {
			return fmt.Errorf("%s isn't what the index says: %v", d.Digest, err)
		}
	}
	return nil
}
