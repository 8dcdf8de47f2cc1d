package payload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
)

// verified opens the file. Its reader gives a fault instead of io.EOF when
// the content isn't what Size and SHA256 say, so nothing else gets into a
// payload.
func (f File) verified(m *stream.Meter) (io.ReadCloser, error) {
	rc, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", f.Path, err)
	}
	r := &fileReader{rc: rc, file: f, meter: m}
	if !f.Verified {
		r.hash = sha256.New()
	}
	return r, nil
}

type fileReader struct {
	rc    io.ReadCloser
	file  File
	hash  hash.Hash // nil when the content is verified below
	n     int64
	meter *stream.Meter
}

func (r *fileReader) Read(p []byte) (int, error) {
	n, err := r.rc.Read(p)
	// No more than Size goes out: anyone who reads promised that in a header.
	if over := r.n + int64(n) - r.file.Size; over > 0 {
		return n - int(over), r.wrong(fmt.Sprintf("longer than %d bytes", r.file.Size))
	}
	r.n += int64(n)
	if r.hash != nil {
		r.hash.Write(p[:n])
	}
	r.meter.Add(int64(n))
	switch {
	case err == io.EOF:
		return n, r.end()
	case err != nil:
		return n, fmt.Errorf("read %s: %w", r.file.Path, err)
	}
	return n, nil
}

func (r *fileReader) end() error {
	if r.n < r.file.Size {
		return r.wrong(fmt.Sprintf("%d bytes instead of %d", r.n, r.file.Size))
	}
	if r.hash == nil {
		return io.EOF
	}
	if sum := hex.EncodeToString(r.hash.Sum(nil)); sum != r.file.SHA256 {
		return r.wrong("its sha256 is " + sum + " instead of " + r.file.SHA256)
	}
	return io.EOF
}

func (r *fileReader) wrong(what string) error {
	return &fault.Error{
		What:  "the content isn't what was built: " + what,
		Where: r.file.Path,
		Fix:   "run the build again; the file was changed or damaged since it was hashed",
	}
}

func (r *fileReader) Close() error { return r.rc.Close() }

// sums returns the sha256sum file: GNU format, of the uncompressed files, in
// the order of their paths, kept ones among them. Names are relative to Root,
// so that it doesn't depend on where a payload was built; WMCO looks at their
// last part alone.
func sums(t *Tree) string {
	files := slices.Clone(t.Files)
	for _, k := range t.Kept {
		files = append(files, File{Path: k.Path, SHA256: k.SHA256})
	}
	var b strings.Builder
	for _, f := range (&Tree{Files: files}).Sorted() {
		fmt.Fprintf(&b, "%s  %s\n", f.SHA256, f.Path)
	}
	return b.String()
}

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
	// LicensesName has the licence texts of all that the payload's programs link.
	LicensesName = "licenses"
)

// ExtraNames are all that there are: a folder with anything else isn't ours.
var ExtraNames = []string{LicensesName, ExpectationName, VerifyName}
