package oci

import (
	"errors"
	"fmt"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/winbake/winbake/internal/base/fault"
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
// other systems are left out: the operator runs on Linux. Options.Platform
// narrows the list. An empty list is an error, as is an entry that an engine
// could choose though it can't be judged.
func (s *Source) Images() ([]PlatformImage, error) {
	if s.Kind == KindDir {
		return nil, &fault.Error{
			What: "a folder of payload files, where an image is needed", Where: s.Name,
			Fix: "give an OCI layout, an image tarball or a registry reference",
		}
	}
	c := imageCollector{source: s, seen: map[v1.Hash]bool{}}
	var err error
	if s.index != nil {
		err = c.index(s.index, 1)
	} else {
		err = c.image(v1.Descriptor{Digest: s.Digest}, s.image, false)
	}
	if err != nil {
		return nil, err
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
		fix = "give an image for that platform"
	}
	return &fault.Error{What: what, Where: s.Reference(), Fix: fix}
}

// imageCollector walks an index and those in it.
type imageCollector struct {
	source  *Source
	seen    map[v1.Hash]bool // what was taken in
	entries int
	found   []PlatformImage
}

func (c *imageCollector) index(idx v1.ImageIndex, depth int) error {
	m, err := idx.IndexManifest()
	if err != nil {
		return err
	}
	for _, d := range m.Manifests {
		if IsAttachment(d) {
			continue
		}
		if c.entries++; c.entries > maxIndexEntries || depth > MaxIndexDepth {
			return damaged(c.source.Reference(),
				fmt.Sprintf("more than %d images or %d indexes within each other", maxIndexEntries, MaxIndexDepth),
				"give the digest of one image of it")
		}
		if err := c.child(idx, d, depth); err != nil {
			return err
		}
	}
	return nil
}

// child takes one entry of an index in. What an engine could choose and isn't
// judged here is refused: it would run in place of what was checked.
func (c *imageCollector) child(idx v1.ImageIndex, d v1.Descriptor, depth int) error {
	switch {
	case c.seen[d.Digest]:
		return nil
	case d.MediaType.IsIndex():
		c.seen[d.Digest] = true
		return c.nested(idx, d, depth)
	case d.Platform != nil && !c.wants(*d.Platform):
		return nil
	case !d.MediaType.IsImage():
		return c.other(d)
	}
	img, err := idx.Image(d.Digest)
	if err != nil {
		return c.leftOut(idx, d, err)
	}
	if attached, err := IsDocument(d, img); attached || err != nil {
		return err
	}
	return c.image(d, img, c.source.platform == nil && !c.isTagged(d, depth))
}

// isTagged tells an entry that engines choose by its tag alone: from a layout's
// own index.json, and not from an index that is an image of several platforms.
func (c *imageCollector) isTagged(d v1.Descriptor, depth int) bool {
	return c.source.topLevel && depth == 1 && d.Annotations[refName] != ""
}

// other passes an entry of a type that no engine runs, as in the example of
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md#indexjson-file
// Its bytes have to be something else than a manifest: some engines go by what
// the registry calls them, not by what the index does.
func (c *imageCollector) other(d v1.Descriptor) error {
	if d.Platform == nil && d.MediaType != "" && !d.MediaType.IsSchema1() {
		entry := d
		entry.MediaType = types.OCIImageIndex // a registry has what an index lists among its manifests
		raw, err := readVerified(c.source.store, entry)
		if err != nil || !looksRunnable(raw) {
			return err
		}
	}
	return damaged(c.source.Reference(), fmt.Sprintf(
		"an entry that an engine could take for the image, %s, isn't one: its media type is %q", d.Digest, d.MediaType), c.source.store.fix())
}

// leftOut is the fault of an image that can't be opened. Where it is missing
// and one for another platform is there, that one was all that was exported.
func (c *imageCollector) leftOut(idx v1.ImageIndex, d v1.Descriptor, err error) error {
	f, ok := errors.AsType[*fault.Error](err)
	m, merr := idx.IndexManifest()
	if !ok || merr != nil || c.source.platform != nil || c.has(d) {
		return err
	}
	i := slices.IndexFunc(m.Manifests, func(o v1.Descriptor) bool { return o.Platform != nil && c.wants(*o.Platform) && c.has(o) })
	if i < 0 {
		return err
	}
	there := *f
	there.Fix = "check what is there, --platform " + m.Manifests[i].Platform.String() + "; or " + f.Fix
	return &there
}

func (c *imageCollector) has(d v1.Descriptor) bool {
	_, err := c.source.store.stat(d)
	return err == nil
}

func (c *imageCollector) nested(idx v1.ImageIndex, d v1.Descriptor, depth int) error {
	sub, err := idx.ImageIndex(d.Digest)
	if err != nil {
		return err
	}
	return c.index(sub, depth+1)
}

// image takes an image in that is wanted by its platform: the index's word for
// it, else the configuration's. Engines take an image that the index gives no
// platform where no other fits, whatever its configuration says: unless one
// platform was asked for, anyPlatform takes it in too.
func (c *imageCollector) image(d v1.Descriptor, img v1.Image, anyPlatform bool) error {
	p, err := PlatformOf(d, img)
	if err != nil {
		return err
	}
	if anyPlatform || c.wants(p) {
		c.seen[d.Digest] = true
		c.found = append(c.found, PlatformImage{Platform: p, Digest: d.Digest, Image: img})
	}
	return nil
}

// wants takes an image without an operating system for a Linux one: tools
// that make images from scratch leave it out.
func (c *imageCollector) wants(p v1.Platform) bool {
	p = normal(p)
	if want := c.source.platform; want != nil {
		return p.Satisfies(normal(*want))
	}
	return p.OS == "linux" || p.OS == ""
}

// Complete checks that every blob of a local image is there with its size,
// those too that a check needn't read.
func (s *Source) Complete(img v1.Image) error {
	m, err := img.Manifest()
	if err != nil {
		return err
	}
	for _, d := range append([]v1.Descriptor{m.Config}, m.Layers...) {
		if len(d.URLs) > 0 {
			continue // a foreign layer stays with its vendor
		}
		n, err := s.store.stat(d)
		if err != nil {
			return err
		}
		if n != d.Size {
			return damaged(s.store.where(d), fmt.Sprintf("has %d bytes where its manifest says %d", n, d.Size), s.store.fix())
		}
	}
	return nil
}

// LayersOf returns an image's layers, the lowest first, with their diff IDs.
func (s *Source) LayersOf(img v1.Image) ([]v1.Layer, []v1.Hash, error) {
	if err := s.Complete(img); err != nil {
		return nil, nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, nil, err
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return nil, nil, err
	}
	if len(cf.RootFS.DiffIDs) != len(layers) {
		return nil, nil, damaged(s.Reference(), fmt.Sprintf("its configuration lists %d layers, its manifest %d", len(cf.RootFS.DiffIDs), len(layers)), s.store.fix())
	}
	return layers, cf.RootFS.DiffIDs, nil
}
