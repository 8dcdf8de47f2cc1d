package verify

import (
	"errors"
	"fmt"
	"io"

	"github.com/winbake/winbake/internal/ociimage/rootfs"
)

const (
	// chunkSize is how a buffer grows. A size that an archive only claims
	// costs nothing until its bytes come.
	chunkSize = 1 << 20
	// maxChunks bounds the memory, and so the largest executable: twice the
	// largest node binary.
	maxChunks = 256
)

// buffer holds an executable until it is checked. Its memory serves the next one.
type buffer struct {
	path   string
	chunks [][]byte
	size   int64
}

func (b *buffer) reset(path string) { b.path, b.size = path, 0 }

// Write appends p.
func (b *buffer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i, off := int(b.size/chunkSize), b.size%chunkSize
		if i == maxChunks {
			return 0, &rootfs.LimitError{Object: b.path, Observed: fmt.Sprintf("an executable of more than %d MiB", i), Limit: fmt.Sprintf("%d MiB", i)}
		}
		if i == len(b.chunks) {
			b.chunks = append(b.chunks, make([]byte, chunkSize))
		}
		k := copy(b.chunks[i][off:], p)
		p = p[k:]
		b.size += int64(k)
	}
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (b *buffer) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("read at a negative offset")
	}
	n := 0
	for n < len(p) && off < b.size {
		end := min(chunkSize, b.size-off/chunkSize*chunkSize)
		k := copy(p[n:], b.chunks[off/chunkSize][off%chunkSize:end])
		n += k
		off += int64(k)
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
