package rootfs

import (
	"archive/tar"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Entry is one visible file or folder of a source.
type Entry struct {
	// Path is slash-separated and begins at the image's root, without a
	// leading slash: "payload/csi-proxy/csi-proxy.exe".
	Path string
	// Mode holds the permission bits and whether it is a folder.
	Mode fs.FileMode
	// Size is the length of Content in bytes; of an archive, not of its
	// member.
	Size int64
	// Link is the path of the file that gives the content when Path is a
	// link, symbolic or hard; else empty.
	Link string
	// Content is the file as it is stored; nil for a folder. It is good until
	// the visit ends and needn't be read.
	Content io.Reader

	budget *budget
}

func newEntry(h *tar.Header, p string, content io.Reader, b *budget) *Entry {
	mode := h.FileInfo().Mode() & (fs.ModePerm | fs.ModeDir | fs.ModeSticky)
	return &Entry{Path: p, Mode: mode, Size: h.Size, Content: content, budget: b}
}

const archiveSuffix = ".tar.gz"

// Archived tells whether the entry is a single-member archive, as archived
// payloads hold them, by its name.
func (e *Entry) Archived() bool {
	return !e.Mode.IsDir() && strings.HasSuffix(e.Path, archiveSuffix)
}

// ArchiveError says why a file isn't a single-member archive that the
// operator and a Windows node could unpack.
type ArchiveError struct{ What string }

// Error returns What.
func (e *ArchiveError) Error() string { return e.What }

// Member opens the archive of an entry whose Archived is true: a gzipped tar
// of exactly one regular file, whose name is the archive's without .tar.gz. It gives
// the file's content and size, once, and not after Content was read. The content ends
// with an *ArchiveError or a *LimitError instead of io.EOF when the archive isn't
// what it should be: read it to the end before relying on it.
func (e *Entry) Member() (io.Reader, int64, error) {
	z, err := gzip.NewReader(e.Content)
	if err != nil {
		return nil, 0, archiveError(e.Path, err)
	}
	m := &member{archive: e.Path, rest: e.budget.limit(e.Path, z)}
	m.Reader = tar.NewReader(m.rest)
	h, err := m.Next()
	if errors.Is(err, io.EOF) {
		return nil, 0, &ArchiveError{"an empty archive"}
	}
	if err != nil {
		return nil, 0, archiveError(e.Path, err)
	}
	if limit := e.budget.MaxFile; h.Size > limit {
		return nil, 0, &LimitError{e.Path, fmt.Sprintf("a file of %d bytes in it", h.Size), fmt.Sprintf("%d bytes a file", limit)}
	}
	wrong := cmp.Or(unsafeKind(h), privileged(h))
	switch {
	case wrong != "":
		wrong += " in it"
	case h.Typeflag != tar.TypeReg:
		wrong = fmt.Sprintf("its member %q isn't a regular file", h.Name)
	case h.Name != strings.TrimSuffix(path.Base(e.Path), archiveSuffix):
		wrong = fmt.Sprintf("its member is called %q", h.Name)
	}
	if wrong != "" {
		return nil, 0, &ArchiveError{wrong}
	}
	return m, h.Size, nil
}

// archiveError turns what a decoder says into an ArchiveError; errors of the
// layer around the archive, and limits, stay what they are.
func archiveError(archive string, err error) error {
	if errors.Is(err, tar.ErrFieldTooLong) {
		return longHeader(archive)
	}
	if _, ok := errors.AsType[*ArchiveError](err); ok || isOurs(err) {
		return err
	}
	return &ArchiveError{"not a gzipped tar archive: " + err.Error()}
}

// member is a member's content, followed by the checks of what comes after it.
type member struct {
	*tar.Reader
	archive string
	rest    io.Reader
}

func (m *member) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	if err == io.EOF {
		err = m.end()
	}
	if err != nil && err != io.EOF {
		err = archiveError(m.archive, err)
	}
	return n, err
}

// end makes sure that nothing follows: another member would be unpacked onto
// the node beside the first, unseen by every checksum.
func (m *member) end() error {
	h, err := m.Next()
	if err == nil {
		return &ArchiveError{fmt.Sprintf("more than one member: %q too", h.Name)}
	}
	if err != io.EOF {
		return err
	}
	zeros, err := onlyZeros(m.rest)
	if err == nil && !zeros {
		err = &ArchiveError{"bytes after the end of the archive"}
	}
	if err == nil {
		err = io.EOF
	}
	return err
}

// onlyZeros reads to the end, and tells whether there is nothing but the zeros that
// tar pads with.
func onlyZeros(r io.Reader) (bool, error) {
	w := &zeroWriter{only: true}
	_, err := io.Copy(w, r)
	return w.only, err
}

type zeroWriter struct{ only bool }

func (z *zeroWriter) Write(p []byte) (int, error) {
	z.only = z.only && len(bytes.TrimLeft(p, "\x00")) == 0
	return len(p), nil
}
