package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/ociimage/rootfs"
	"github.com/winbake/winbake/payload"
)

// payloadReader gathers what one image's payload holds while it is walked.
type payloadReader struct {
	checker   *checker
	problems  []Problem
	files     []File
	paths     []string
	sums      []byte // nil when there is no sha256sum file
	extras    Extras // of /winbake
	root      bool   // whether /payload is there
	generated *fs.FileMode
	buf       []byte
	hash      hash.Hash
}

const (
	sumsPath      = payload.Root + "/" + payload.SumsName
	generatedPath = payload.Root + "/" + payload.GeneratedName
)

func newPayloadReader(c *checker) *payloadReader {
	return &payloadReader{checker: c, buf: make([]byte, 256<<10), hash: sha256.New()}
}

func (r *payloadReader) visit(ctx context.Context, e *rootfs.Entry) error {
	if !e.Mode.IsDir() {
		r.paths = append(r.paths, e.Path)
	}
	if e.Path == payload.ExtrasRoot || strings.HasPrefix(e.Path, payload.ExtrasRoot+"/") {
		return r.visitExtras(e)
	}
	r.root = true
	r.mode(e)
	switch {
	case e.Mode.IsDir():
		if e.Path == generatedPath {
			r.generated = &e.Mode
		}
		return nil
	case strings.HasPrefix(e.Path, generatedPath+"/"):
		r.Add(problem(IDGenerated, e.Path, "a file", "an empty folder"))
		return nil
	case e.Path == sumsPath:
		return r.readSums(e)
	}
	return r.readFile(ctx, e)
}

func (r *payloadReader) Add(p Problem) { r.problems = append(r.problems, p) }

func (r *payloadReader) readSums(e *rootfs.Entry) error {
	if e.Size > maxSums {
		r.Add(problem(IDSumMalformed, e.Path, fmt.Sprintf("%d bytes", e.Size), sumLine+", for each file"))
		r.sums = []byte{}
		return nil
	}
	b, err := io.ReadAll(e.Content)
	r.sums = append([]byte{}, b...)
	return err
}

// readFile hashes a file, in its archive where it has one, and shows it to
// the check of executables.
func (r *payloadReader) readFile(ctx context.Context, e *rootfs.Entry) error {
	f := File{
		Path:     strings.TrimSuffix(strings.TrimPrefix(e.Path, payload.Root+"/"), payload.ArchiveSuffix),
		Archived: e.Archived(), Link: e.Link,
	}
	err := r.readContent(ctx, e, &f)
	if malformed, ok := errors.AsType[*rootfs.ArchiveError](err); ok {
		r.Add(problem(IDArchiveMalformed, e.Path, malformed.What, "a gzipped tar of that one file under its bare name"))
		err = nil
	}
	r.files = append(r.files, f)
	return err
}

func (r *payloadReader) readContent(ctx context.Context, e *rootfs.Entry, f *File) error {
	content := e.Content
	if f.Archived {
		m, err := e.Member()
		if err != nil {
			return err
		}
		content = m.Content
	}
	r.hash.Reset()
	in := r.checker.inspector
	if in == nil || !r.isProgram(f.Path) {
		n, err := r.copy(r.hash, content)
		f.take(r.hash, n, err)
		return err
	}
	buf, err := in.take(ctx)
	if err != nil {
		return err
	}
	n, err := r.copy(io.MultiWriter(r.hash, &bufferWriter{ctx, e.Path, buf}), content)
	f.take(r.hash, n, err)
	if err != nil {
		in.put(buf)
		return err
	}
	in.inspect(f.Path, buf)
	return nil
}

func (r *payloadReader) isProgram(p string) bool {
	return strings.EqualFold(path.Ext(p), ".exe") || slices.Contains(r.checker.opts.Programs, p)
}

func (f *File) take(h hash.Hash, n int64, err error) {
	if err == nil {
		f.SHA256, f.Size = hex.EncodeToString(h.Sum(nil)), n
	}
}

// copy is io.Copy without a buffer for each file.
func (r *payloadReader) copy(w io.Writer, content io.Reader) (int64, error) {
	return io.CopyBuffer(w, struct{ io.Reader }{content}, r.buf)
}

func (r *payloadReader) mode(e *rootfs.Entry) {
	perm := e.Mode.Perm()
	switch {
	case e.Path == generatedPath:
	case e.Mode.IsDir() && perm&0o005 != 0o005:
		r.Add(problem(IDMode, e.Path, octal(perm), "a folder that all may enter and list: 0755"))
	case !e.Mode.IsDir() && perm&0o004 == 0:
		r.Add(problem(IDMode, e.Path, octal(perm), "a file that all may read: 0644"))
	case perm&0o002 != 0:
		r.Add(warning(IDMode, e.Path, octal(perm), "nothing but "+payload.GeneratedName+"/ that all may write"))
	}
}

func octal(m fs.FileMode) string { return fmt.Sprintf("mode %04o", m.Perm()) }
