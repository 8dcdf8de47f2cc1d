package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/build/sbom"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

const idSBOM = "payload.sbom"

// What --require takes.
const (
	requireSBOM       = "sbom"
	requireSignature  = "signature"
	requireProvenance = "provenance"
)

// document is an SBOM and where it is.
type document struct {
	where string
	data  []byte
}

// sbomFindings holds the image's SBOMs to what is in it: the digest, the sums of the
// files, and the modules that each program names itself.
func (t *tool) sbomFindings(ctx context.Context, source *oci.Source, o oci.Options, summary verify.Summary, modules map[string][]string) ([]finding.Finding, error) {
	documents, err := findSBOMs(ctx, source, o)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return []finding.Finding{badSBOM(source.Reference(), "no SBOM", "an SPDX or CycloneDX document, as a referrer of the image or beside it")}, nil
	}
	var fs []finding.Finding
	for _, d := range documents {
		fs = append(fs, judgeSBOM(d, source.Digest, summary, modules))
	}
	return fs, nil
}

func findSBOMs(ctx context.Context, source *oci.Source, o oci.Options) (all []document, err error) {
	for _, format := range []sbom.Format{sbom.SPDX, sbom.CycloneDX} {
		if source.Kind != oci.KindRegistry {
			path := strings.TrimSuffix(source.Ref, "/") + format.Suffix()
			data, err := infile.Read(path, infile.Text)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return nil, err
			}
			all = append(all, document{path, data})
			continue
		}
		repository, err := oci.RepositoryOf(source.Ref)
		if err != nil {
			return nil, err
		}
		contents, err := oci.Referrers(ctx, repository, source.Digest, format.MediaType(), sbom.MaxSize, o)
		if err != nil {
			return nil, err
		}
		for _, data := range contents {
			all = append(all, document{source.Reference(), data})
		}
	}
	return all, nil
}

func badSBOM(object, observed, expected string) finding.Finding {
	return finding.Finding{ID: idSBOM, Severity: finding.Block, Object: object, Observed: observed, Expected: expected,
		Why: "who scans the image by it sees something else than what is in it", Remedy: "bake payload again from versions.yaml, with --sbom spdx, and take the image from where it was built"}
}

func judgeSBOM(d document, digest v1.Hash, summary verify.Summary, modules map[string][]string) finding.Finding {
	doc, err := sbom.Read(d.data)
	if err != nil {
		return badSBOM(d.where, "it can't be read: "+fault.FirstLine(err), "SPDX 2.3 or CycloneDX, as bake writes it")
	}
	if digest != (v1.Hash{}) && doc.Digest != digest.String() {
		return badSBOM(d.where, "it is of "+doc.Digest, "of "+digest.String())
	}
	var files []verify.File
	for _, image := range summary.Images[:min(1, len(summary.Images))] {
		files = image.Files
	}
	left := maps.Clone(doc.Files)
	for _, f := range files {
		if sum := doc.Files[f.Path]; sum != f.SHA256 {
			return badSBOM(d.where, fmt.Sprintf("%s with sha256 %s", f.Path, cmp.Or(sum, "none")), "sha256 "+f.SHA256)
		}
		delete(left, f.Path)
	}
	for _, path := range slices.Sorted(maps.Keys(left)) {
		return badSBOM(d.where, path, "only files that the payload has")
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		for _, purl := range modules[path] {
			if !doc.PURLs[purl] && !keptFile(summary, path) {
				return badSBOM(d.where, "no "+purl, "all that "+path+" says that it links")
			}
		}
	}
	return finding.Finding{ID: idSBOM, Object: d.where, Observed: fmt.Sprintf("%s, %s", inventory.Many(len(doc.Files), "file"), inventory.Many(len(doc.PURLs), "package"))}
}

// keptFile tells a file of the base, of whose modules nothing is known.
func keptFile(summary verify.Summary, path string) bool {
	return slices.ContainsFunc(summary.Images, func(image verify.ImageSummary) bool {
		return slices.ContainsFunc(image.Kept, func(k payload.KeptFile) bool { return k.Path == path })
	})
}
