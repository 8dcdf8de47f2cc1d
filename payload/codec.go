package payload

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"
	"github.com/klauspost/pgzip"

	"github.com/winbake/winbake/internal/base/fault"
)

// The compressors of a layer.
const (
	Gzip = "gzip" // every container runtime and registry reads it
	Zstd = "zstd" // smaller and faster; OCI images only, not docker schema 2
)

// The compressors' versions are part of Codec.ID: another version may give
// other bytes for the same input. A test holds them to go.mod.
const (
	pgzipVersion    = "1.3.0"
	compressVersion = "1.20.3"
)

// blockSize is the unit of parallel gzip. It decides the bytes, so it is
// fixed; the number of blocks in flight doesn't, so it may follow the cores.
const blockSize = 1 << 20

// maxBlocks bounds the memory of compression: 4 keep a 476 MB payload below
// 150 MB on 32 cores, where 16 take 350 MB, and keep four to six cores busy.
const maxBlocks = 4

// Codec is a compressor of layers and its level. Output depends on the input
// and the codec alone: never on cores, time or the size of writes.
type Codec struct {
	// Name is Gzip or Zstd.
	Name string
	// Level is 0 (stored) to 9 for gzip; 1 (fastest) to 4 (best) for zstd.
	Level int
}

// DefaultCodec returns the gzip codec for a layer of the format.
func DefaultCodec(f Format) Codec {
	// The members of an archived payload are compressed already: a second
	// pass costs as much and gains nothing, so the layer is stored.
	if f == Archived {
		return Codec{Name: Gzip, Level: 0}
	}
	// Level 3 is 3 % smaller than the standard library's level 1, which
	// go-containerregistry uses, at two thirds of its time. Level 2 isn't
	// surely smaller; level 6 would gain 5 % more for 1.5 times the time.
	return Codec{Name: Gzip, Level: 3}
}

// NewCodec returns the codec of that name with the level that fits the format.
func NewCodec(name string, f Format) (Codec, error) {
	switch name {
	case Gzip:
		return DefaultCodec(f), nil
	case Zstd:
		// Level 1 is smaller than gzip's level 4 at half the time of its level
		// 3, and passes incompressible data through. Level 2 would be 5 %
		// smaller for 1.5 times the time.
		return Codec{Name: Zstd, Level: 1}, nil
	}
	return Codec{}, &fault.Error{
		What: fmt.Sprintf("no compressor %q", name),
		Fix:  "use " + Gzip + " or " + Zstd,
	}
}

// memberCodec compresses the single-member archives of an archived payload.
// `tar` on Windows unpacks them, so it is gzip whatever the layer's codec.
// Level 6 comes within 5 % of the size of gzip -9 at a twelfth of its time;
// level 7 takes half as long again for 1.5 %.
var memberCodec = Codec{Name: Gzip, Level: 6}

// ID names everything that decides the compressed bytes: compressor, library
// version, level and block size.
func (c Codec) ID() string {
	if c.Name == Zstd {
		return fmt.Sprintf("zstd/klauspost-%s/level-%d", compressVersion, c.Level)
	}
	return fmt.Sprintf("pgzip/%s/klauspost-%s/level-%d/1MiB", pgzipVersion, compressVersion, c.Level)
}

// Check tells whether there is such a codec.
func (c Codec) Check() error {
	switch {
	case c.Name == Gzip && c.Level >= 0 && c.Level <= 9:
		return nil
	case c.Name == Zstd && c.Level >= 1 && c.Level <= 4:
		return nil
	}
	return &fault.Error{
		What: fmt.Sprintf("no compressor %q with level %d", c.Name, c.Level),
		Fix:  "use gzip with level 0 to 9, or zstd with level 1 to 4",
	}
}

// MediaType returns that of an OCI layer in this compression.
func (c Codec) MediaType() types.MediaType {
	if c.Name == Zstd {
		return types.OCILayerZStd
	}
	return types.OCILayer
}

// compressor is a running compression. Close ends it and reports the first
// error of the writer below; it must be called even after a failed Write,
// since it ends the compressor's goroutines.
type compressor struct {
	io.WriteCloser
	sink *stickyWriter
	done func() // with the writer, which may be used again
}

// newWriter compresses into w, with about the given number of blocks at once.
func (c Codec) newWriter(w io.Writer, blocks int) (*compressor, error) {
	sink := &stickyWriter{w: w}
	if c.Name == Zstd {
		// One goroutine: two save an eighth of the time that passes, and cost
		// a fifth more processor time.
		z, err := zstd.NewWriter(sink, zstd.WithEncoderLevel(zstd.EncoderLevel(c.Level)), zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", c.ID(), err)
		}
		return &compressor{z, sink, func() {}}, nil
	}
	z, err := newGzip(sink, c.Level)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.ID(), err)
	}
	// pgzip would write the year 1's low 32 bits into the header.
	z.ModTime = time.Unix(0, 0)
	if err := z.SetConcurrency(blockSize, max(blocks, 1)); err != nil {
		return nil, fmt.Errorf("start %s: %w", c.ID(), err)
	}
	return &compressor{z, sink, func() { gzipPools[c.Level].Put(z) }}, nil
}

// compress writes what fill gives to w.
func (c Codec) compress(w io.Writer, blocks int, fill func(io.Writer) error) error {
	z, err := c.newWriter(w, blocks)
	if err != nil {
		return err
	}
	err = fill(z)
	if cerr := z.Close(); err == nil {
		err = cerr
	}
	return err
}

// gzipPools keep closed writers for the next file: a writer has a few MiB of
// tables and buffers, and pools of its own that keep them alive long after it.
var gzipPools [pgzip.BestCompression + 1]sync.Pool

func newGzip(w io.Writer, level int) (*pgzip.Writer, error) {
	if z, ok := gzipPools[level].Get().(*pgzip.Writer); ok {
		z.Reset(w)
		return z, nil
	}
	return pgzip.NewWriterLevel(w, level)
}

func (c *compressor) Write(p []byte) (int, error) {
	if err := c.sink.err(); err != nil {
		return 0, err
	}
	return c.WriteCloser.Write(p)
}

func (c *compressor) Close() error {
	err := c.WriteCloser.Close()
	if err == nil {
		c.done()
	}
	return cmp.Or(c.sink.err(), err)
}

// allBlocks is how many blocks may be in flight over all files.
func allBlocks() int { return min(2*runtime.GOMAXPROCS(0), maxBlocks) }
