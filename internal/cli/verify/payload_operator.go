package verify

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/build/expect"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/wanted"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/pe"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// The findings about what an operator demands of its payload.
const (
	idDemanded = "payload.operator.file"
	idRelease  = "payload.release"
)

type demands struct {
	catalog *catalog.Catalog
	release string // of --release or the pins; "" leaves it to the image's labels
	format  string // that is expected; "" leaves it to the image's labels
	partial bool   // a part of the payload is looked at, by --only
}

// newDemands settles which release the payload is for, before it is read.
func (t *tool) newDemands(o payloadOptions, want *pinned) (*demands, error) {
	known, err := o.catalog.Load()
	if err != nil {
		return nil, err
	}
	d := &demands{catalog: known, partial: len(o.only) > 0 && o.release == "", format: o.format}
	if want != nil {
		d.release = want.file.Release
	}
	if o.release == "" {
		return d, nil
	}
	minor := o.release
	if v, err := version.ParseOpenShift(o.release); err == nil {
		minor = v.MinorString()
	}
	switch {
	case known.PayloadFiles(minor) == nil:
		return nil, &fault.Error{What: "it isn't known what the operator of OpenShift " + o.release + " demands",
			Fix: "--release with one of " + strings.Join(known.OperatorReleases(), ", ") + "; --catalog adds others"}
	case want != nil && minor != d.release:
		return nil, &fault.Error{Where: o.file, What: "the pins are for OpenShift " + d.release + ", and --release is " + o.release,
			Fix: "--release " + d.release + ", or the pins for " + minor}
	}
	d.release, d.format = minor, cmp.Or(o.format, pins.FormatOf(minor))
	return d, nil
}

// findings are those of each image. notes say what wasn't looked at.
func (d *demands) findings(summary verify.Summary) (fs []finding.Finding, notes []string) {
	for _, image := range summary.Images {
		release := cmp.Or(d.release, image.Release)
		switch {
		case len(image.Files) == 0 || d.partial && !image.Operator: // payload.missing, or no more was asked
			continue
		case release == "":
			return fs, []string{"nothing tells which OpenShift release this is for, so it wasn't held to what the operator demands: add --release"}
		}
		more := append(d.labelled(image, release), d.missing(image, release)...)
		for i := range more {
			more[i].Object = cmp.Or(more[i].Object, summary.Reference)
			if len(summary.Images) > 1 {
				more[i].Object = image.Platform + " " + more[i].Object
			}
		}
		fs = append(fs, more...)
	}
	return fs, nil
}

// labelled compares what the image says of itself with the release, and its
// format with the release's where nobody named one.
func (d *demands) labelled(image verify.ImageSummary, release string) (fs []finding.Finding) {
	if image.Release != "" && image.Release != release {
		fs = append(fs, finding.Finding{ID: idRelease, Severity: finding.Warn,
			Observed: "its labels say OpenShift " + image.Release, Expected: "OpenShift " + release,
			Why: "programs of another release may not work with this operator", Remedy: "give the payload of " + release + ", or --release " + image.Release})
	}
	if format := pins.FormatOf(release); d.format == "" && d.release == "" && image.Format != "" && format != string(image.Format) {
		fs = append(fs, finding.Finding{ID: verify.IDFormat, Severity: severity(image), Object: payload.Root + "/",
			Observed: "the format " + string(image.Format), Expected: format,
			Why: "the operator of OpenShift " + release + " finds no file in it", Remedy: "bake it again for its release: bake payload --format " + format})
	}
	return fs
}

// severity of what an operator misses: an image that is run has all that its
// operator will ever have, a payload of its own is meant to be put onto one.
func severity(image verify.ImageSummary) finding.Severity {
	if image.Operator {
		return finding.Block
	}
	return finding.Warn
}

func (d *demands) missing(image verify.ImageSummary, release string) (fs []finding.Finding) {
	demanded := d.catalog.PayloadFiles(release)
	if demanded == nil {
		return []finding.Finding{{ID: idDemanded, Severity: finding.Unknown,
			Observed: "a payload for OpenShift " + release, Expected: "a release of the catalog: " + strings.Join(d.catalog.OperatorReleases(), ", "),
			Why: "it isn't known which files its operator demands", Remedy: "add rows of " + release + " to the catalog: --catalog, and verify catalog -o yaml shows how they look"}}
	}
	for _, f := range demanded {
		if !slices.ContainsFunc(image.Files, func(g verify.File) bool { return g.Path == f.Path }) {
			fs = append(fs, finding.Finding{ID: idDemanded, Severity: severity(image), Object: payload.Root + "/" + f.Path, Source: f.Source,
				Observed: "no such file", Expected: "what the operator of OpenShift " + release + " reads", Why: "without it " + f.Effect,
				Remedy: "pin it in versions.yaml, as examples/wmco does, or put the payload onto an operator's image that has it: bake payload --base REF"})
		}
	}
	if len(fs) == 0 {
		return []finding.Finding{{ID: idDemanded, Observed: fmt.Sprintf("all %d files that the operator of OpenShift %s reads", len(demanded), release)}}
	}
	return fs
}

// keptFindings tell which files came with the base. Pins account for them where
// they pin the base itself; that they are its files is what the digest proves.
func keptFindings(summary verify.Summary, want *pinned) (fs []finding.Finding) {
	for _, image := range summary.Images {
		for _, k := range image.Kept {
			f := finding.Finding{ID: verify.IDKept, Severity: finding.Info, Object: payload.Root + "/" + k.Path, Observed: "labels say that it came with the base " + k.Base}
			if len(summary.Images) > 1 {
				f.Object = image.Platform + " " + f.Object
			}
			if want != nil {
				pinnedBase(&f, image.Base, want.file.Base)
			}
			fs = append(fs, f)
		}
	}
	return fs
}

// pinnedBase compares the base with that of versions.yaml.
func pinnedBase(f *finding.Finding, base, pin string) {
	_, digest, byDigest := strings.Cut(pin, "@")
	switch {
	case !byDigest:
		f.Severity, f.Expected = finding.Warn, "a base that versions.yaml pins"
		f.Why = "what no pin accounts for gets onto the nodes"
		f.Remedy = "base: REPOSITORY@" + base + " in versions.yaml, if that is the base"
	case digest != base:
		f.Severity, f.Observed, f.Expected = finding.Block, "labels say that it came with the base "+base, digest+", the base of versions.yaml"
		f.Why = "files of another operator get onto the nodes"
		f.Remedy = "bake the payload again, or change base: in versions.yaml, whichever is right"
	}
}

// verifyProgram is the package that verify.exe is built from.
const verifyProgram = "github.com/winbake/winbake/cmd/verify/node"

// extrasFindings judge what an image says of nodes, and the program that would
// run there. Images of an index that share it are judged once.
func (t *tool) extrasFindings(summary verify.Summary, want *pinned, unsigned map[string]string) (fs []finding.Finding, err error) {
	for i, image := range summary.Images {
		object := payload.ExtrasRoot + "/"
		if summary.Folder {
			object = summary.Reference + "." + object
		} else if len(summary.Images) > 1 {
			object = image.Platform + " " + object
		}
		if i > 0 && same(image, summary.Images[0]) {
			continue
		}
		expectation, err := t.pinnedExpectation(image, want, unsigned)
		if err != nil {
			return nil, err
		}
		fs = append(fs, wanted.Check(object+payload.ExpectationName, image.Extras.Expectation, image.Files, unsigned, expectation)...)
		if data := image.Extras.Verify; data != nil {
			fs = append(fs, checkVerify(object+payload.VerifyName, data)...)
		}
	}
	if summary.Folder {
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
func (t *tool) pinnedExpectation(image verify.ImageSummary, want *pinned, unsigned map[string]string) (*node.Expectation, error) {
	if want == nil {
		return nil, nil
	}
	var built []wanted.Built
	for _, c := range want.components {
		b := wanted.Built{Component: c.Component, Stamps: c.Stamps}
		if c.Signed != nil {
			b.Unsigned = unsigned[c.Payload]
		}
		for _, f := range image.Files {
			if f.Path == c.Payload {
				b.SHA256, b.Size = f.SHA256, f.Size
			}
		}
		built = append(built, b)
	}
	e, err := wanted.Expectation(want.file, built, func(string, string) {}) // bake said it
	if e != nil {
		e.Kept = image.Kept
	}
	return e, err
}

// checkVerify judges verify.exe by what it says of itself. Which release it is
// can't be told: a payload may carry an older one.
func checkVerify(object string, data []byte) []finding.Finding {
	fs := expect.File(object, bytes.NewReader(data), int64(len(data)), nil)
	image, err := pe.Read(bytes.NewReader(data), int64(len(data)))
	if err != nil || image.Build == nil || image.Build.Path == verifyProgram {
		return fs // the findings say what couldn't be read
	}
	return append(fs, finding.Finding{ID: "payload.verify", Severity: finding.Block, Object: object,
		Observed: "the program " + image.Build.Path, Expected: verifyProgram,
		Why: "it runs on nodes as an administrator", Remedy: "take the image from where it was built: these bytes aren't its builder's"})
}
