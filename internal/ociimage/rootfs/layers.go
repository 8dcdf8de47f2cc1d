package rootfs

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/stream"
)

// imageLayers is the layers of one image, the lowest first, as a tree of
// files is put together from them.
type imageLayers struct {
	source  *ociimage.Source
	layers  []v1.Layer
	diffIDs []v1.Hash
	budget  *budget
	report  stream.Progress

	sizes []int64
	done  int64 // of the layers before the current one
}

func newImageLayers(s *ociimage.Source, img v1.Image, b *budget) (*imageLayers, error) {
	layers, diffIDs, err := s.LayersOf(img)
	if err != nil {
		return nil, err
	}
	im := &imageLayers{source: s, layers: layers, diffIDs: diffIDs, budget: b}
	for _, l := range layers {
		n, err := l.Size()
		if err != nil {
			return nil, s.Fault(err)
		}
		im.sizes = append(im.sizes, n)
	}
	return im, nil
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
