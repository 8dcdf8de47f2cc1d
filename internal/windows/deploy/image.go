package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// Image is a payload image that can be put onto nodes.
type Image struct {
	// Reference is the image by digest.
	Reference   string
	Expectation *node.Expectation
	// Verify is the verify.exe that came along; nil for none.
	Verify []byte

	source *oci.Source
}

// OpenImage opens an image and reads what it says of nodes. In a registry it must be
// named by digest: what a tag means may be another payload tomorrow. The caller
// closes the Image.
func OpenImage(ctx context.Context, ref string, o oci.Options, otherwise Otherwise) (*Image, error) {
	source, err := oci.Resolve(ctx, ref, o)
	if err != nil {
		return nil, err
	}
	im, err := ReadImage(ctx, source, otherwise)
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return im, nil
}

// ReadImage reads what an open image says of nodes. otherwise may be nil: then an
// image without node.json is refused. Closing the Image closes the source.
func ReadImage(ctx context.Context, source *oci.Source, otherwise Otherwise) (*Image, error) {
	x, err := verify.ReadExtras(ctx, source)
	if err != nil {
		return nil, err
	}
	im := &Image{Reference: source.Reference(), Verify: x.Verify, source: source}
	switch {
	case x.Expectation != nil:
		im.Expectation, err = node.Parse(x.Expectation)
	case otherwise != nil:
		err = im.stock(ctx, otherwise)
	default:
		err = &fault.Error{Where: im.Reference, What: "the image doesn't say what a node should be: it has no /" + payload.ExtrasRoot + "/" + payload.ExpectationName,
			Fix: "declare services in versions.yaml, such as services: [{name: csi-proxy, component: csi-proxy}], and make it again: bake payload; or, for an operator's own image, say where its files go: -f versions.yaml"}
	}
	return im, err
}

// Close lets go of the image's file.
func (im *Image) Close() error { return im.source.Close() }

// Only narrows the expectation to some components and the services that run
// them.
func (im *Image) Only(components []string) error {
	if len(components) == 0 {
		return nil
	}
	e := im.Expectation
	known := map[string]bool{}
	for _, f := range e.Files {
		known[f.Component] = true
	}
	for _, c := range components {
		if !known[c] {
			return &fault.Error{Where: im.Reference, What: "no file of component " + c + " goes onto a node", Fix: "bake list shows the components and where they are installed"}
		}
	}
	e.Files = slices.DeleteFunc(e.Files, func(f node.File) bool { return !slices.Contains(components, f.Component) })
	e.Services = slices.DeleteFunc(e.Services, func(s node.Service) bool { return !slices.Contains(components, s.Component) })
	return nil
}

// Findings are what is wrong with a payload, as findings.
func Findings(problems []verify.Problem) (found []finding.Finding) {
	severities := map[verify.Severity]finding.Severity{
		verify.SeverityBlock: finding.Block, verify.SeverityUnknown: finding.Unknown,
		verify.SeverityWarn: finding.Warn, verify.SeverityInfo: finding.Info,
	}
	for _, p := range problems {
		found = append(found, finding.Finding{ID: p.ID, Severity: severities[p.Severity], Object: p.Object, Observed: p.Observed, Expected: p.Expected, Why: p.Why, Remedy: p.Remedy})
	}
	return found
}

// Otherwise makes the expectation for an image without node.json, of its files
// below /payload.
type Otherwise func(files []verify.File) (*node.Expectation, error)

// stock reads all of an image that says nothing of nodes: nobody else has
// checked its files, and their sums are what is expected of a node.
func (im *Image) stock(ctx context.Context, otherwise Otherwise) error {
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
