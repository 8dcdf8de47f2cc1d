package oci

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

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
	c := imageCollector{source: s, seen: map[v1.Hash]bool{}}
	var err error
	switch {
	case s.Kind == KindDir:
		return nil, &fault.Error{
			What: "a folder of payload files, where an image is needed", Where: s.Name,
			Fix: "give an OCI layout, an image tarball or a registry reference",
		}
	case s.index != nil:
		err = c.index(s.index, 1)
	default:
		err = c.image(v1.Descriptor{Digest: s.Digest}, s.image, false)
	}
	if err != nil || len(c.found) > 0 {
		return c.found, err
	}
	f := &fault.Error{What: "holds no Linux image", Where: s.Reference(), Fix: "give an image that holds a Linux operator or payload"}
	if s.platform != nil {
		f.What, f.Fix = "holds no image for "+s.platform.String(), "give an image for that platform"
	}
	return nil, f
}

// Image returns the image. When the source is an index, that is its only
// Linux image, or the one of Options.Platform; an index of several images
// is an error that lists their platforms.
func (s *Source) Image() (v1.Image, error) {
	images, err := s.Images()
	if err != nil {
		return nil, err
	}
	if len(images) == 1 {
		return images[0].Image, nil
	}
	list := ""
	for _, i := range images {
		list += "  " + i.Platform.String() + "  " + i.Digest.String() + "\n"
	}
	return nil, &fault.Error{
		What: "an index of several images, where one image is needed", Where: s.Reference(),
		Excerpt: list, Fix: "name one of these digests, or a platform",
	}
}

// MaxIndexDepth ends nested indexes.
const MaxIndexDepth = 4

// imageCollector walks an index and those in it.
type imageCollector struct {
	source *Source
	seen   map[v1.Hash]bool // what was taken in
	found  []PlatformImage
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
		if depth > MaxIndexDepth {
			return damaged(c.source.Reference(), fmt.Sprintf("more than %d indexes within each other", MaxIndexDepth), "give the digest of one image of it")
		}
		if err := c.child(idx, d, depth); err != nil {
			return err
		}
	}
	return nil
}

// child takes one entry of an index in. What an engine could choose and isn't
// judged here is refused: it would run instead of what was checked. Entries of
// another type without a platform are documents, as in the example of
// https://github.com/opencontainers/image-spec/blob/main/image-layout.md#indexjson-file
func (c *imageCollector) child(idx v1.ImageIndex, d v1.Descriptor, depth int) error {
	switch {
	case c.seen[d.Digest]:
		return nil
	case d.MediaType.IsIndex():
		c.seen[d.Digest] = true
		sub, err := idx.ImageIndex(d.Digest)
		if err != nil {
			return err
		}
		return c.index(sub, depth+1)
	case d.Platform != nil && !c.wants(*d.Platform):
		return nil
	case !d.MediaType.IsImage():
		if d.Platform == nil && d.MediaType != "" && !d.MediaType.IsSchema1() {
			return nil
		}
		return damaged(c.source.Reference(), fmt.Sprintf(
			"an entry that an engine could take for the image, %s, isn't one: its media type is %q", d.Digest, d.MediaType), c.source.store.fix())
	}
	img, err := idx.Image(d.Digest)
	if f, ok := errors.AsType[*fault.Error](err); ok && c.source.platform == nil {
		partly := *f // containerd exports an index whole, and its images in part
		partly.Fix = "check one that is there, such as --platform linux/amd64; or " + f.Fix
		return &partly
	}
	if err != nil {
		return err
	}
	if attached, err := IsDocument(d, img); attached || err != nil {
		return err
	}
	// From a layout's own index.json engines choose by tag alone.
	tagged := c.source.topLevel && depth == 1 && d.Annotations[refName] != ""
	return c.image(d, img, c.source.platform == nil && !tagged)
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

// IsAttachment tells what no engine runs, since no machine has its platform:
// BuildKit's attestations. Annotations don't count: engines choose by platform
// alone, and an annotation would hide the image that they choose.
func IsAttachment(d v1.Descriptor) bool {
	return d.Platform != nil && strings.EqualFold(d.Platform.OS, "unknown")
}

// IsDocument tells an attachment without a platform, such as a signature that
// cosign saves beside its image: none of its layers has a type that an engine
// unpacks.
func IsDocument(d v1.Descriptor, img v1.Image) (bool, error) {
	if d.Platform != nil {
		return false, nil
	}
	m, err := img.Manifest()
	if err != nil || len(m.Layers) == 0 {
		return false, err
	}
	return !slices.ContainsFunc(m.Layers, func(l v1.Descriptor) bool { return l.MediaType.IsLayer() }), nil
}

// PlatformOf is what an index says of an image, else the image's configuration.
func PlatformOf(d v1.Descriptor, img v1.Image) (v1.Platform, error) {
	if d.Platform != nil {
		return *d.Platform, nil
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return v1.Platform{}, err
	}
	return v1.Platform{OS: cf.OS, Architecture: cf.Architecture, Variant: cf.Variant, OSVersion: cf.OSVersion}, nil
}

// aliases are other words for architectures; container engines take either.
var aliases = map[string]string{"x86_64": "amd64", "x86-64": "amd64", "aarch64": "arm64"}

// normal spells a platform as Go does, as container engines do before they
// compare: https://github.com/containerd/platforms/blob/main/database.go
func normal(p v1.Platform) v1.Platform {
	p.OS, p.Architecture = strings.ToLower(p.OS), strings.ToLower(p.Architecture)
	if a, ok := aliases[p.Architecture]; ok {
		p.Architecture = a
	}
	return p
}
