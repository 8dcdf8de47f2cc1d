package payload

import (
	"fmt"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// imageLayers is the layers of one image, the lowest first, as a tree of
// files is put together from them.
type imageLayers struct {
	source  *Source
	layers  []v1.Layer
	diffIDs []v1.Hash
	budget  *budget
	report  Progress

	sizes []int64
	done  int64 // of the layers before the current one
}

func (s *Source) layersOf(img v1.Image, b *budget) (*imageLayers, error) {
	if err := s.complete(img); err != nil {
		return nil, s.fault(err)
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, s.fault(err)
	}
	cf, err := img.ConfigFile()
	if err != nil {
		return nil, s.fault(s.config(img, err))
	}
	if len(cf.RootFS.DiffIDs) != len(layers) {
		return nil, s.layersDiffer(img, len(cf.RootFS.DiffIDs), len(layers))
	}
	im := &imageLayers{source: s, layers: layers, diffIDs: cf.RootFS.DiffIDs, budget: b}
	for _, l := range layers {
		n, err := l.Size()
		if err != nil {
			return nil, s.fault(err)
		}
		im.sizes = append(im.sizes, n)
	}
	return im, nil
}

// layersDiffer also names an artifact: kept beside an image without a platform,
// it is judged as one that an engine could choose.
func (s *Source) layersDiffer(img v1.Image, config, manifest int) error {
	what := fmt.Sprintf("its configuration lists %d layers, its manifest %d", config, manifest)
	m, err := img.Manifest()
	if err != nil {
		return s.fault(err)
	}
	d, err := img.Digest()
	if err != nil {
		return s.fault(err)
	}
	if s.index == nil || m.ArtifactType == "" {
		return damaged(s.Reference(), what, s.repair())
	}
	return damaged(s.Reference(), fmt.Sprintf("%s is an artifact, %s, and no image: %s", d, shorten(m.ArtifactType), what),
		"check the image alone: --platform linux/amd64")
}

// progress reports over all layers while layer i is read. A layer that is read
// again for its links counts no more.
func (im *imageLayers) progress(i int) func(int64) {
	if im.report == nil {
		return nil
	}
	before, total := im.done, im.total()
	im.done += im.sizes[i]
	return func(n int64) { im.report(min(before+n, total), total) }
}

// skip counts a layer that needn't be read.
func (im *imageLayers) skip(i int) {
	im.done += im.sizes[i]
	if im.report != nil {
		im.report(min(im.done, im.total()), im.total())
	}
}

func (im *imageLayers) total() (n int64) {
	for _, size := range im.sizes {
		n += size
	}
	return n
}

func (im *imageLayers) count() int { return len(im.layers) }
