package payload

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// HasPayload tells whether any layer of a base, or of a Linux image in a base
// index, has entries at or below /payload. A payload's layer must be opaque on
// such a base, or files that it doesn't have would show through from below.
//
// Layers are read whole until one is found that has such entries; the store
// remembers the answer for each layer.
func HasPayload(ctx context.Context, base ImageOrIndex, store Store) (bool, error) {
	images, err := linuxImages(base, 1)
	if err != nil {
		return false, err
	}
	for _, img := range images {
		layers, err := img.Layers()
		if err != nil {
			return false, fmt.Errorf("read the base image's layers: %w", err)
		}
		// The payload is near the top, if anywhere.
		for i := len(layers) - 1; i >= 0; i-- {
			if found, err := layerHasPayload(ctx, layers[i], store); found || err != nil {
				return found, err
			}
		}
	}
	return false, nil
}

func linuxImages(base ImageOrIndex, depth int) ([]v1.Image, error) {
	if img, ok := base.(v1.Image); ok {
		return []v1.Image{img}, nil
	}
	idx, ok := base.(v1.ImageIndex)
	if !ok || depth > maxIndexDepth {
		return nil, fmt.Errorf("read the base: %T is neither an image nor an index", base)
	}
	m, err := idx.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the base index: %w", err)
	}
	var all []v1.Image
	for _, d := range m.Manifests {
		if isAttachment(d) || d.Platform != nil && d.Platform.OS != "" && d.Platform.OS != "linux" {
			continue
		}
		var child ImageOrIndex
		switch {
		case d.MediaType.IsIndex():
			child, err = idx.ImageIndex(d.Digest)
		case d.MediaType.IsImage():
			child, err = idx.Image(d.Digest)
		default:
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the base index: %w", err)
		}
		if img, ok := child.(v1.Image); ok {
			if documents, err := isDocuments(d, img); err != nil {
				return nil, fmt.Errorf("read the base index: %w", err)
			} else if documents {
				continue
			}
		}
		images, err := linuxImages(child, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, images...)
	}
	return all, nil
}

// layerAnswer is what the store remembers of a base's layer.
type layerAnswer struct {
	Payload bool `json:"payload"`
}

func layerHasPayload(ctx context.Context, l v1.Layer, store Store) (bool, error) {
	h, err := l.Digest()
	if err != nil {
		return false, fmt.Errorf("read the base image's layers: %w", err)
	}
	key := digestOf("base layer", h.String())
	var known layerAnswer
	if ok, err := store.Lookup(key, &known); err == nil && ok {
		return known.Payload, nil
	}
	if known.Payload, err = readHasPayload(ctx, l); err != nil {
		if isOurs(err) || ctx.Err() != nil {
			return false, err
		}
		return false, fmt.Errorf("read layer %s of the base image: %w", h, err)
	}
	if err := store.Record(key, known); err != nil {
		return false, fmt.Errorf("record the base layer %s: %w", h, err)
	}
	return known.Payload, nil
}

func readHasPayload(ctx context.Context, l v1.Layer) (bool, error) {
	rc, err := l.Compressed()
	if err != nil {
		return false, err
	}
	defer rc.Close() //nolint:errcheck // only read
	raw := &ctxReader{ctx, rc}
	z, err := inflate(raw)
	if err == nil {
		defer z.Close() //nolint:errcheck // only read
		var found bool
		if found, err = tarHasPayload(z); err == nil {
			return found, nil
		}
	}
	if !isOurs(err) {
		// A decoder stumbles over damage before the digest can tell of it.
		if _, damage := io.Copy(io.Discard, raw); damage != nil {
			return false, damage
		}
	}
	return false, err
}

func tarHasPayload(r io.Reader) (bool, error) {
	tr := tar.NewReader(r)
	for {
		h, err := tr.Next()
		if err == io.EOF {
			// To the end, where a reader that verifies tells what it found.
			_, err := io.Copy(io.Discard, r)
			return false, err
		}
		if err != nil {
			return false, err
		}
		name := strings.TrimPrefix(path.Clean("/"+h.Name), "/")
		if name == Root || strings.HasPrefix(name, Root+"/") {
			return true, nil
		}
	}
}
