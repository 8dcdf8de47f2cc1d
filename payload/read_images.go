package payload

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/fault"
)

const (
	// maxIndexDepth ends nested indexes. Digests forbid a true cycle; a
	// registry that lies about them could still offer an endless chain.
	maxIndexDepth = 4
	// maxIndexEntries bounds the images of one source.
	maxIndexEntries = 256
)

// PlatformImage is one image of a source.
type PlatformImage struct {
	// Platform is the index's word for it, else the configuration's.
	Platform v1.Platform
	Digest   v1.Hash
	Image    v1.Image
}

// Images returns the Linux images of the source, in the order of the index;
// a single image gives a list of one. Attestations, signatures and images of
// other systems are left out: the operator runs on Linux. LoadOptions.Platform
// narrows the list. An empty list is an error.
func (s *Source) Images() ([]PlatformImage, error) {
	if s.Kind == KindDir {
		return nil, &fault.Error{
			What: "a folder of payload files, where an image is needed", Where: s.name,
			Fix: "give an OCI layout, an image tarball or a registry reference",
		}
	}
	c := imageCollector{source: s, seen: map[v1.Hash]bool{}}
	var err error
	if s.index != nil {
		err = c.index(s.index, 1)
	} else {
		err = c.image(v1.Descriptor{Digest: s.Digest}, s.image)
	}
	if err != nil {
		return nil, s.fault(err)
	}
	if len(c.found) == 0 {
		return nil, s.noImage()
	}
	return c.found, nil
}

func (s *Source) noImage() error {
	what, fix := "holds no Linux image", "give an image that holds a Linux operator or payload"
	if s.platform != nil {
		what = "holds no image for " + s.platform.String()
		fix = "leave the platform out to see all images"
	}
	return &fault.Error{What: what, Where: s.Reference(), Fix: fix}
}

// imageCollector walks an index and those in it.
type imageCollector struct {
	source *Source
	seen   map[v1.Hash]bool
	found  []PlatformImage
}

func (c *imageCollector) index(idx v1.ImageIndex, depth int) error {
	m, err := idx.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range m.Manifests {
		if c.seen[d.Digest] || isAttachment(d) {
			continue
		}
		c.seen[d.Digest] = true
		if len(c.seen) > maxIndexEntries || depth > maxIndexDepth {
			return damaged(c.source.Reference(),
				fmt.Sprintf("more than %d images or %d indexes within each other", maxIndexEntries, maxIndexDepth),
				"give the digest of one image of it")
		}
		if err := c.child(idx, d, depth); err != nil {
			return err
		}
	}
	return nil
}

func (c *imageCollector) child(idx v1.ImageIndex, d v1.Descriptor, depth int) error {
	switch {
	case d.MediaType.IsIndex():
		sub, err := idx.ImageIndex(d.Digest)
		if err != nil {
			return err
		}
		return c.index(sub, depth+1)
	case !d.MediaType.IsImage() || d.Platform != nil && !c.wants(*d.Platform):
		return nil
	}
	img, err := idx.Image(d.Digest)
	if err != nil {
		return err
	}
	return c.image(d, img)
}

func (c *imageCollector) image(d v1.Descriptor, img v1.Image) error {
	p := d.Platform
	if p == nil {
		cf, err := img.ConfigFile()
		if err != nil {
			return c.source.config(img, err)
		}
		p = &v1.Platform{OS: cf.OS, Architecture: cf.Architecture, Variant: cf.Variant, OSVersion: cf.OSVersion}
	}
	if c.wants(*p) {
		c.found = append(c.found, PlatformImage{Platform: *p, Digest: d.Digest, Image: img})
	}
	return nil
}

// wants takes an image without an operating system for a Linux one: tools
// that make images from scratch leave it out.
func (c *imageCollector) wants(p v1.Platform) bool {
	if want := c.source.platform; want != nil {
		return p.Satisfies(*want)
	}
	return p.OS == "linux" || p.OS == ""
}

// isAttachment tells what rides along in an index without being an image:
// BuildKit's attestations and cosign's signatures.
func isAttachment(d v1.Descriptor) bool {
	_, buildkit := d.Annotations["vnd.docker.reference.type"]
	kind, cosign := d.Annotations["kind"]
	return buildkit || d.Platform != nil && d.Platform.OS == "unknown" ||
		cosign && len(kind) > 22 && kind[:22] == "dev.cosignproject.cosi"
}

// complete checks that every blob of a local image is there with its size,
// those too that a check needn't read.
func (s *Source) complete(img v1.Image) error {
	if s.blobs == nil {
		return nil
	}
	m, err := img.Manifest()
	if err != nil {
		return err
	}
	for _, d := range append([]v1.Descriptor{m.Config}, m.Layers...) {
		if len(d.URLs) > 0 {
			continue // a foreign layer stays with its vendor
		}
		n, err := s.blobs.stat(d)
		if err != nil {
			return err
		}
		if n != d.Size {
			return damaged(s.blobs.where(d), fmt.Sprintf("has %d bytes where its manifest says %d", n, d.Size), s.blobs.fix())
		}
	}
	return nil
}
