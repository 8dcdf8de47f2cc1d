package verify

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/atomicfs"
	"github.com/winbake/winbake/internal/infile"
	"github.com/winbake/winbake/internal/ociimage"
	"github.com/winbake/winbake/internal/ociimage/rootfs"
	"github.com/winbake/winbake/payload"
)

// Both are held in memory.
const (
	// maxExpectation bounds node.json in bytes: a few hundred for each file.
	maxExpectation = 4 << 20
	// maxVerify bounds verify.exe in bytes: five times its size.
	maxVerify = 64 << 20
)

// Extras are the files of an image's ExtrasRoot.
type Extras struct {
	// Expectation is node.json; nil when the image has none.
	Expectation []byte
	// Verify is verify.exe; nil when the image has none.
	Verify []byte
}

// ReadExtras reads them. Layers are read from the top until one has node.json,
// each to its end, so what is returned has the digests that the image names.
// For a plain folder D they are in D.winbake.
func ReadExtras(ctx context.Context, s *ociimage.Source, limits rootfs.Limits) (*Extras, error) {
	if s.Kind == ociimage.KindDir {
		_, dir := atomicfs.Current(s.Ref)
		return readExtrasDir(dir)
	}
	x := &Extras{}
	o := rootfs.Options{Roots: []string{payload.ExtrasRoot}, Limits: limits, Enough: func() bool { return x.Expectation != nil }}
	err := rootfs.Walk(ctx, s, o, func(e *rootfs.Entry) error { return x.take(e) })
	return x, err
}

func (x *Extras) take(e *rootfs.Entry) (err error) {
	name := strings.TrimPrefix(e.Path, payload.ExtrasRoot+"/")
	switch {
	case e.Mode.IsDir():
	case name == payload.ExpectationName:
		x.Expectation, err = readWhole(e, maxExpectation)
	case name == payload.VerifyName:
		x.Verify, err = readWhole(e, maxVerify)
	}
	return err
}

// readWhole is never nil without an error.
func readWhole(e *rootfs.Entry, limit int64) ([]byte, error) {
	if e.Size > limit {
		return nil, &rootfs.LimitError{Object: e.Path, Observed: fmt.Sprintf("a file of %d bytes", e.Size), Limit: fmt.Sprintf("%d bytes", limit)}
	}
	b := make([]byte, e.Size)
	_, err := io.ReadFull(e.Content, b)
	return b, err
}

func readExtrasDir(dir string) (*Extras, error) {
	x := &Extras{}
	for name, into := range map[string]*[]byte{payload.ExpectationName: &x.Expectation, payload.VerifyName: &x.Verify} {
		data, err := infile.Read(filepath.Join(dir, name), infile.Any)
		if err != nil && !os.IsNotExist(err) {
			return nil, ociimage.Unreadable(filepath.Join(dir, name), err)
		}
		*into = data
	}
	return x, nil
}
