package payload

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/image/oci"
)

// AppendIndex puts a payload onto each Linux image of an index, with what put
// makes of the image, and builds the index again: what is below a payload may
// differ from one platform to the other. Images for other systems stay as they
// are. Attestations and signatures in the index are dropped, since what they
// speak of has changed. The index's own annotations are those of o. With
// o.Platform, the index must hold an image for it.
func AppendIndex(base v1.ImageIndex, o ImageOptions, put func(v1.Image) (v1.Image, error)) (v1.ImageIndex, error) {
	a := &indexAppender{put: put, options: o}
	idx, err := a.index(base, 1)
	if err != nil {
		return nil, err
	}
	if a.appended == 0 {
		return nil, &fault.Error{What: "the base index holds no Linux image", Fix: "give an index or image for linux"}
	}
	if o.Platform != nil && !a.found {
		return nil, &fault.Error{
			What: "the base index holds no image for " + o.Platform.String(),
			Fix:  "give a base that has one, or leave the platform out",
		}
	}
	return idx, nil
}

type indexAppender struct {
	put      func(v1.Image) (v1.Image, error)
	options  ImageOptions
	found    bool // an image for options.Platform
	appended int
}

func (a *indexAppender) index(base v1.ImageIndex, depth int) (v1.ImageIndex, error) {
	m, err := base.IndexManifest()
	if err != nil {
		return nil, fmt.Errorf("read the base index: %w", err)
	}
	mt, err := base.MediaType()
	if err != nil {
		return nil, fmt.Errorf("read the base index: %w", err)
	}
	if depth > oci.MaxIndexDepth {
		return nil, &fault.Error{What: "the base is an index within too many others", Fix: "give the digest of the innermost index"}
	}
	m = m.DeepCopy()
	old := m.Manifests
	m.Manifests, m.MediaType, m.Subject = nil, mt, nil
	children := map[v1.Hash]oci.ImageOrIndex{}
	for _, d := range old {
		if oci.IsAttachment(d) {
			continue
		}
		child, err := a.child(base, d, depth)
		if err != nil {
			return nil, err
		}
		if child == nil {
			continue
		}
		if d.Digest, err = child.Digest(); err != nil {
			return nil, err
		}
		if d.Size, err = child.Size(); err != nil {
			return nil, err
		}
		d.Data = nil
		children[d.Digest] = child
		m.Manifests = append(m.Manifests, d)
	}
	if mt == types.OCIImageIndex {
		m.Annotations = merged(m.Annotations, a.options.described(), a.options.Annotations)
	}
	return oci.NewIndex(m, children)
}

// child is an entry with the payload on it where it is for Linux; nil for a
// signature and the like.
func (a *indexAppender) child(base v1.ImageIndex, d v1.Descriptor, depth int) (oci.ImageOrIndex, error) {
	switch {
	case d.MediaType.IsIndex():
		sub, err := base.ImageIndex(d.Digest)
		if err != nil {
			return nil, fmt.Errorf("read the base index: %w", err)
		}
		return a.index(sub, depth+1)
	case !d.MediaType.IsImage():
		return nil, &fault.Error{
			What: "the base index holds something that isn't an image: " + string(d.MediaType), Where: d.Digest.String(),
			Fix: "give the digest of one of its images as the base",
		}
	}
	img, err := base.Image(d.Digest)
	if err != nil {
		return nil, fmt.Errorf("read the base image %s: %w", d.Digest, err)
	}
	if attached, err := oci.IsDocument(d, img); attached || err != nil {
		return nil, err
	}
	p, err := oci.PlatformOf(d, img)
	if err != nil {
		return nil, err
	}
	if p.OS != "" && p.OS != "linux" {
		return img, nil
	}
	a.appended++
	a.found = a.found || a.options.Platform != nil && p.Satisfies(*a.options.Platform)
	return a.put(img)
}
