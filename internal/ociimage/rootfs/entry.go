package rootfs

import (
	"archive/tar"
	"context"
	"io"
	"io/fs"
	"strings"
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

	ctx    context.Context
	budget *budget
	member *memberStream
}

const archiveSuffix = ".tar.gz"

// Archived tells whether the entry is a single-member archive, as archived
// payloads hold them, by its name.
func (e *Entry) Archived() bool {
	return !e.Mode.IsDir() && strings.HasSuffix(e.Path, archiveSuffix)
}

// close ends what the visit left open.
func (e *Entry) close() {
	if e.member != nil {
		e.member.ahead.Close()
	}
}

func newEntry(h *tar.Header, p string) *Entry {
	return &Entry{Path: p, Mode: h.FileInfo().Mode() & (fs.ModePerm | fs.ModeDir | fs.ModeSticky), Size: h.Size}
}
