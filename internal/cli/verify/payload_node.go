package verify

import (
	"bytes"
	"slices"

	"github.com/winbake/winbake/internal/cli/hosts"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/node/wanted"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/pe"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// verifyProgram is the package that verify.exe is built from.
const verifyProgram = "github.com/winbake/winbake/cmd/verify/node"

// extrasFindings judge what an image says of nodes, and the program that would
// run there. Images of an index that share it are judged once.
func (t *tool) extrasFindings(summary verify.Summary, want *pinned) (fs []finding.Finding, err error) {
	for i, image := range summary.Images {
		object := payload.ExtrasRoot + "/"
		if summary.Kind == ociimage.KindDir {
			object = summary.Reference + "." + object
		} else if len(summary.Images) > 1 {
			object = image.Platform + " " + object
		}
		if i > 0 && same(image, summary.Images[0]) {
			continue
		}
		expectation, err := t.pinnedExpectation(image, want)
		if err != nil {
			return nil, err
		}
		fs = append(fs, wanted.Check(object+payload.ExpectationName, image.Extras.Expectation, hosts.Present(image.Files), expectation)...)
		if data := image.Extras.Verify; data != nil {
			fs = append(fs, checkVerify(object+payload.VerifyName, data)...)
		}
	}
	if summary.Kind == ociimage.KindDir {
		// The payload's folder may be moved without the one beside it.
		for i := range fs {
			if fs[i].ID == wanted.Missing {
				fs[i].Severity = finding.Warn
			}
		}
	}
	return fs, nil
}

func same(a, b verify.ImageSummary) bool {
	return bytes.Equal(a.Extras.Expectation, b.Extras.Expectation) && bytes.Equal(a.Extras.Verify, b.Extras.Verify) && slices.Equal(a.Files, b.Files)
}

// pinnedExpectation is what bake would write for the files that are there;
// those that aren't have findings of their own.
func (t *tool) pinnedExpectation(image verify.ImageSummary, want *pinned) (*node.Expectation, error) {
	if want == nil {
		return nil, nil
	}
	files := hosts.Present(image.Files)
	var built []wanted.Built
	for _, b := range want.built {
		f := files[b.Component.Payload]
		b.SHA256, b.Size = f.SHA256, f.Size
		built = append(built, b)
	}
	e, err := wanted.Expectation(want.file, built, func(string, string) {}) // bake said it
	if e != nil {
		for _, k := range image.Kept {
			e.Kept = append(e.Kept, node.KeptFile(k))
		}
	}
	return e, err
}

// checkVerify judges verify.exe by what it says of itself. Which release it is
// can't be told: a payload may carry an older one.
func checkVerify(object string, data []byte) []finding.Finding {
	fs := checkExecutable(object, bytes.NewReader(data), int64(len(data)), nil)
	image, err := pe.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil || image.Build == nil || image.Build.Path == verifyProgram {
		return fs // the findings say what couldn't be read
	}
	return append(fs, finding.Finding{ID: "payload.verify", Severity: finding.Block, Object: object,
		Observed: "the program " + image.Build.Path, Expected: verifyProgram,
		Why: "it runs on nodes as an administrator", Remedy: "take the image from where it was built: these bytes aren't its builder's"})
}
