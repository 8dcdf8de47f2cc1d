package deploy

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/shell"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/payload"
	"github.com/winbake/winbake/payload/verify"
)

// Image is a payload that can be put onto nodes: an image, or a folder that
// bake payload --dir wrote. It is package agent's Files.
type Image struct {
	// Reference is the image by digest, or the folder.
	Reference   string
	Expectation *node.Expectation
	// Verify is the verify.exe that came along; nil for none.
	Verify []byte

	source *oci.Source
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
		err = &fault.Error{Where: im.Reference, What: "it doesn't say what a node should be: there is no " + payload.ExpectationName,
			Fix: "declare services in versions.yaml, such as services: [{name: csi-proxy, component: csi-proxy}], and make it again: bake payload; a folder D has its " + payload.ExpectationName + " in D.winbake"}
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
	for _, c := range components {
		if !slices.ContainsFunc(e.Files, func(f node.File) bool { return f.Component == c }) {
			return &fault.Error{Where: im.Reference, What: "no file of component " + c + " goes onto a node", Fix: "bake list shows the components and where they are installed"}
		}
	}
	e.Files = slices.DeleteFunc(e.Files, func(f node.File) bool { return !slices.Contains(components, f.Component) })
	e.Services = slices.DeleteFunc(e.Services, func(s node.Service) bool { return !slices.Contains(components, s.Component) })
	return nil
}

// errAll ends a walk when all files were found: the rest needn't be read.
var errAll = errors.New("all files were found")

// each calls take with the entry of each of the files.
func (im *Image) each(ctx context.Context, files []node.File, take func(f node.File, e *rootfs.Entry) error) error {
	left := slices.Clone(files)
	if len(left) == 0 {
		return nil
	}
	err := rootfs.Walk(ctx, im.source, rootfs.Options{Roots: []string{payload.Root}}, func(e *rootfs.Entry) error {
		name := strings.TrimSuffix(strings.TrimPrefix(e.Path, payload.Root+"/"), payload.ArchiveSuffix)
		i := slices.IndexFunc(left, func(f node.File) bool { return f.Payload == name })
		if i < 0 || e.Mode.IsDir() {
			return nil
		}
		if err := take(left[i], e); err != nil {
			return err
		}
		if left = slices.Delete(left, i, i+1); len(left) == 0 {
			return errAll
		}
		return nil
	})
	switch {
	case errors.Is(err, errAll):
		return nil
	case err != nil:
		return err
	}
	return &fault.Error{Where: im.Reference, What: "there is no /payload/" + left[0].Payload + ", which its node.json names", Fix: "make the payload again: bake payload"}
}

// Each calls take with each of the files.
func (im *Image) Each(ctx context.Context, files []node.File, take func(f node.File, content io.Reader) error) error {
	return im.each(ctx, files, func(f node.File, e *rootfs.Entry) error {
		content := e.Content
		if e.Archived() {
			var err error
			if content, _, err = e.Member(); err != nil {
				return err
			}
		}
		return take(f, content)
	})
}

// Archives calls take with each of the files as an archived payload has it:
// gzipped, and with the name that it has in one.
func (im *Image) Archives(ctx context.Context, files []node.File, take func(f node.File, name string, archive io.Reader) error) error {
	return im.each(ctx, files, func(f node.File, e *rootfs.Entry) error {
		if e.Archived() {
			return take(f, f.Payload+payload.ArchiveSuffix, e.Content)
		}
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		w := tar.NewWriter(z)
		err := w.WriteHeader(&tar.Header{Name: path.Base(f.Payload), Typeflag: tar.TypeReg, Mode: 0o644, Size: e.Size})
		if err == nil {
			_, err = io.Copy(w, e.Content)
		}
		if err = errors.Join(err, w.Close(), z.Close()); err != nil {
			return fmt.Errorf("take %s out of the payload: %w", f.Payload, err)
		}
		return take(f, f.Payload+payload.ArchiveSuffix, bytes.NewReader(out.Bytes()))
	})
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
