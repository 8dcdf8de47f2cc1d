package deploy

import (
	"context"
	"fmt"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/shell"
	"github.com/winbake/winbake/payload/verify"
)

// Otherwise makes the expectation for an image without node.json, of its files
// below /payload.
type Otherwise func(files []verify.File) (*node.Expectation, error)

// stock reads all of an image that says nothing of nodes: nobody else has
// checked its files, and their sums are what is expected of a node.
func (im *Image) stock(ctx context.Context, otherwise Otherwise) (err error) {
	problems, summary, err := verify.Check(ctx, im.source, verify.Options{})
	if err != nil {
		return err
	}
	for _, p := range problems {
		if p.Severity == verify.SeverityBlock || p.Severity == verify.SeverityUnknown {
			return &fault.Error{Where: im.Reference, What: fmt.Sprintf("the payload isn't sound: %s: %s, expected %s", p.Object, p.Observed, p.Expected), Fix: "verify payload " + shell.Word(im.Reference)}
		}
	}
	if len(summary.Images) != 1 {
		return &fault.Error{Where: im.Reference, What: "the payload is for several platforms", Fix: "name the image for linux/amd64 by its own digest"}
	}
	im.Expectation, err = otherwise(summary.Images[0].Files)
	return err
}

// NewImage is an opened image whose expectation is known otherwise: WMCO's own
// images have no node.json. Closing the Image closes the source. verify may be
// nil.
func NewImage(source *ociimage.Source, e *node.Expectation, verify []byte) *Image {
	return &Image{Reference: source.Reference(), Expectation: e, Verify: verify, source: source}
}
