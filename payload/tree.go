package payload

import (
	"cmp"
	"io"
	"slices"
)

// Format is how files lie in a payload. Which one is right depends on the
// release of the Windows Machine Config Operator (WMCO) that reads it.
type Format string

const (
	// Flat is raw files: WMCO up to 10.20 (OpenShift 4.20).
	Flat Format = "flat"
	// Archived is one single-member .tar.gz for each file, and a sha256sum
	// file beside them: WMCO from 10.21 (OpenShift 4.21).
	Archived Format = "archived"
)

// The fixed names of a payload, the same in both formats.
const (
	// Root is the payload's folder in an image, without a leading slash as
	// in a tar entry's name.
	Root = "payload"
	// SumsName is the checksum file below Root; archived payloads alone
	// have it.
	SumsName = "sha256sum"
	// GeneratedName is the empty folder below Root into which the operator
	// writes at start, under whatever user it runs: mode 0777.
	GeneratedName = "generated"
	// ArchiveSuffix is what an archived payload appends to a file's path.
	ArchiveSuffix = ".tar.gz"
)

// File is one file of a payload as it will be on the node, whatever the
// format packs it in.
type File struct {
	// Path is slash-separated and relative to Root: "csi-proxy/csi-proxy.exe".
	Path string
	// SHA256 is the lower-case hex sum of the uncompressed content.
	SHA256 string
	// Size is the content's length in bytes.
	Size int64
	// Open returns the content from its start. It may be called more than
	// once and from several goroutines at once.
	Open func() (io.ReadCloser, error)
	// Verified says that Open's reader itself fails, in place of io.EOF, when
	// the content doesn't have SHA256, as that of a store does. The content
	// isn't hashed a second time then.
	Verified bool
}

// Tree is the content of a payload. The order of Files doesn't matter.
type Tree struct {
	Format Format
	Files  []File
	// Kept are the files of the image below that stay with Files: see
	// BaseImage. They are in the checksum list, and no file may clash with one.
	Kept []KeptFile

	extras bool // below ExtrasRoot, see NewExtras
}

// KeptFile is a file below Root that came with the image that a payload was
// put onto, and stays.
type KeptFile struct {
	// Path is below Root and without ArchiveSuffix, as in File.
	Path string
	// SHA256 is the lower-case hex sum and Size the length in bytes of the
	// uncompressed content. Labels don't tell the size.
	SHA256 string
	Size   int64
	// Base is the digest of the image that it came with: "sha256:...".
	Base string
}

func (t *Tree) root() string {
	if t.extras {
		return ExtrasRoot
	}
	return Root
}

// Sorted returns the files in the order of their paths, the order of the
// sha256sum file. t isn't changed.
func (t *Tree) Sorted() []File {
	return slices.SortedFunc(slices.Values(t.Files), func(a, b File) int {
		return cmp.Compare(a.Path, b.Path)
	})
}

// Size returns the sum of the files' sizes in bytes, before compression.
func (t *Tree) Size() int64 {
	var n int64
	for _, f := range t.Files {
		n += f.Size
	}
	return n
}
