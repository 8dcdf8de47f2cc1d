package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/image/oci"
	"github.com/winbake/winbake/internal/image/rootfs"
	"github.com/winbake/winbake/payload"
)

// visitExtras takes one entry below ExtrasRoot in.
func (r *payloadReader) visitExtras(e *rootfs.Entry) error {
	name := strings.TrimPrefix(e.Path, payload.ExtrasRoot+"/")
	r.mode(e)
	switch {
	case e.Path == payload.ExtrasRoot:
		return nil
	case e.Mode.IsDir() || !slices.Contains(payload.ExtraNames, name):
		r.unexpectedExtra(e.Path)
		return nil
	}
	return r.extras.take(e)
}

func (r *payloadReader) unexpectedExtra(object string) {
	r.Add(problem(IDExtrasUnexpected, object, "something that bake doesn't put there", strings.Join(payload.ExtraNames, ", ")+" alone"))
}

// Beside reads the folder beside a payload's, and names what else is in it.
func (r *payloadReader) extrasDir(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return oci.Unreadable(dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(payload.ExtraNames, e.Name()) {
			r.unexpectedExtra(filepath.Join(dir, e.Name()))
		}
	}
	x, err := readExtrasDir(dir)
	if err != nil {
		return err
	}
	r.extras = *x
	return nil
}

// labelled compares the extras with the labels that name their sums, in both
// directions. A base's labels are dropped when a payload is put onto it.
func (x *Extras) labelled(labels map[string]string) (ps []Problem) {
	for _, name := range payload.ExtraNames {
		object, data, want := payload.ExtrasRoot+"/"+name, *x.of(name), labels[payload.ExtrasLabel(name)]
		switch {
		case data == nil && want != "":
			ps = append(ps, problem(IDExtrasMissing, object, "no such file", want+", as label "+payload.ExtrasLabel(name)+" says"))
		case data != nil && want == "":
			ps = append(ps, problem(IDExtrasUnexpected, object, "a file that no label speaks of", "label "+payload.ExtrasLabel(name)+" with its sum"))
		case data != nil && sha256Of(data) != want:
			ps = append(ps, problem(IDExtrasDigest, object, sha256Of(data), want+", as label "+payload.ExtrasLabel(name)+" says"))
		}
	}
	return ps
}

func sha256Of(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// maxExtra bounds each of them, and sha256sum, in bytes, since it is held in memory:
// five times the size of verify.exe.
const maxExtra = 64 << 20

// Extras are the files of an image's ExtrasRoot.
type Extras struct {
	// Expectation is node.json; nil when the image has none.
	Expectation []byte
	// Verify is verify.exe; nil when the image has none.
	Verify []byte
	// Licenses are the licence texts; nil when the image has none.
	Licenses []byte
}

// of is the content of a file of payload.ExtraNames.
func (x *Extras) of(name string) *[]byte {
	return map[string]*[]byte{payload.ExpectationName: &x.Expectation, payload.VerifyName: &x.Verify, payload.LicensesName: &x.Licenses}[name]
}

// ReadExtras reads them. Layers are read from the top until one has node.json,
// each to its end, so what is returned has the digests that the image names.
// For a plain folder D they are in D.winbake.
func ReadExtras(ctx context.Context, source Source) (*Extras, error) {
	s, err := opened(source)
	if err != nil {
		return nil, err
	}
	if s.Kind == oci.KindDir {
		return readExtrasDir(payload.ExtrasDir(s.Ref))
	}
	x := &Extras{}
	o := rootfs.Options{Roots: []string{payload.ExtrasRoot}, Enough: func() bool { return x.Expectation != nil }}
	err = rootfs.Walk(ctx, s, o, func(e *rootfs.Entry) error { return x.take(e) })
	return x, err
}

func (x *Extras) take(e *rootfs.Entry) (err error) {
	if into := x.of(strings.TrimPrefix(e.Path, payload.ExtrasRoot+"/")); into != nil && !e.Mode.IsDir() {
		*into, err = readWhole(e)
	}
	return err
}

// readWhole is never nil without an error.
func readWhole(e *rootfs.Entry) ([]byte, error) {
	if e.Size > maxExtra {
		return nil, &rootfs.LimitError{Object: e.Path, Observed: fmt.Sprintf("a file of %d bytes", e.Size), Limit: fmt.Sprintf("%d bytes", maxExtra)}
	}
	b := make([]byte, e.Size)
	_, err := io.ReadFull(e.Content, b)
	return b, err
}

func readExtrasDir(dir string) (*Extras, error) {
	x := &Extras{}
	for _, name := range payload.ExtraNames {
		data, err := infile.Read(filepath.Join(dir, name), infile.Any)
		if err != nil && !os.IsNotExist(err) {
			return nil, oci.Unreadable(filepath.Join(dir, name), err)
		}
		*x.of(name) = data
	}
	return x, nil
}
