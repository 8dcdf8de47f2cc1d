package deploy

import (
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/ociimage"
)

// NewImage is an opened image whose expectation is known otherwise: WMCO's own
// images have no node.json. Closing the Image closes the source. verify may be
// nil.
func NewImage(source *ociimage.Source, e *node.Expectation, verify []byte) *Image {
	return &Image{Reference: source.Reference(), Expectation: e, Verify: verify, source: source}
}
