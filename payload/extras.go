package payload

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/winbake/winbake/internal/infile"
)

// ExtrasRoot is the folder of an image that holds what is ours and not WMCO's,
// without a leading slash. It is a layer of its own: the payload's layer is
// the same with it and without.
const ExtrasRoot = "winbake"

// The files of ExtrasRoot.
const (
	// ExpectationName says what a node with this payload should be.
	ExpectationName = "node.json"
	// VerifyName checks that on the node.
	VerifyName = "verify.exe"
)

// extraNames are all that there are: a folder with anything else isn't ours.
var extraNames = []string{ExpectationName, VerifyName}

// NewExtras packs files into a layer with ExtrasRoot, as NewLayer packs a
// payload.
func NewExtras(ctx context.Context, files []File, store Store, o LayerOptions) (*Layer, error) {
	return NewLayer(ctx, &Tree{Format: Flat, Files: files, extras: true}, store, o)
}

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
func ReadExtras(ctx context.Context, s *Source, limits Limits) (*Extras, error) {
	if s.Kind == KindDir {
		_, dir := current(s.name)
		return readExtrasDir(dir)
	}
	x := &Extras{}
	o := WalkOptions{Roots: []string{ExtrasRoot}, Limits: limits, Enough: func() bool { return x.Expectation != nil }}
	err := Walk(ctx, s, o, func(e *Entry) error { return x.take(e) })
	return x, err
}

func (x *Extras) take(e *Entry) (err error) {
	name := strings.TrimPrefix(e.Path, ExtrasRoot+"/")
	switch {
	case e.Mode.IsDir():
	case name == ExpectationName:
		x.Expectation, err = readWhole(e, maxExpectation)
	case name == VerifyName:
		x.Verify, err = readWhole(e, maxVerify)
	}
	return err
}

// readWhole is never nil without an error.
func readWhole(e *Entry, limit int64) ([]byte, error) {
	if e.Size > limit {
		return nil, &LimitError{e.Path, fmt.Sprintf("a file of %d bytes", e.Size), fmt.Sprintf("%d bytes", limit)}
	}
	b := make([]byte, e.Size)
	_, err := io.ReadFull(e.Content, b)
	return b, err
}

func readExtrasDir(dir string) (*Extras, error) {
	x := &Extras{}
	for name, into := range map[string]*[]byte{ExpectationName: &x.Expectation, VerifyName: &x.Verify} {
		data, err := infile.Read(filepath.Join(dir, name), infile.Any)
		if err != nil && !os.IsNotExist(err) {
			return nil, unreadable(filepath.Join(dir, name), err)
		}
		*into = data
	}
	return x, nil
}
