package payload

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/fault"
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

// WriteExtrasDir makes dir hold these files and nothing else; none remove it.
// Like WriteDir it swaps folders at once, and refuses one that holds anything
// that it wouldn't write.
func WriteExtrasDir(ctx context.Context, dir string, files []File) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return cantWrite(dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return cantWrite(dir, err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !slices.Contains(extraNames, e.Name()) {
			return &fault.Error{What: "the folder holds something that wasn't written here: " + e.Name(), Where: dir,
				Fix: "give another folder with --dir, or remove this one: rm -r " + dir}
		}
	}
	if len(files) == 0 {
		if err := os.RemoveAll(dir); err != nil {
			return cantWrite(dir, err)
		}
		return nil
	}
	t := &Tree{Format: Flat, Files: files, extras: true}
	if err := t.Check(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), dirMode); err != nil {
		return cantWrite(dir, err)
	}
	if err := errors.Join(removeLeftovers(dir, os.DirEntry.IsDir), buildDir(ctx, dir, t, DirOptions{})); err != nil {
		return cantWrite(dir, err)
	}
	return nil
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
// For a plain folder D they lie in D.winbake.
func ReadExtras(ctx context.Context, s *Source, limits Limits) (*Extras, error) {
	if s.Kind == KindDir {
		return readExtrasDir(s.name + "." + ExtrasRoot)
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
