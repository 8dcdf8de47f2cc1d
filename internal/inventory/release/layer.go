package release

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/fault"
)

// maxLayer bounds what one layer may inflate to. The whole of a release image
// has under 1 GiB.
const maxLayer = 8 << 30

// readLayer reads the two files from a layer, nil for one that isn't there,
// and tells whether the layer removes them from those below. The layer is
// read to its end: only then its bytes are known to be those of its digest.
func readLayer(ctx context.Context, l v1.Layer, where string) (files map[string][]byte, removed bool, err error) {
	rc, err := l.Compressed()
	if err != nil {
		return nil, false, err
	}
	defer rc.Close() //nolint:errcheck // only read
	raw := &contextReader{ctx, rc}
	files, removed, err = scanLayer(raw, where)
	// Damage shows as an error of the decoder first. The digest explains it
	// better, or the connection that broke.
	if _, derr := io.Copy(io.Discard, raw); derr != nil {
		err = derr
	}
	return files, removed, err
}

func scanLayer(r io.Reader, where string) (files map[string][]byte, removed bool, err error) {
	in, closer, err := inflate(r)
	if err != nil {
		return nil, false, damagedLayer(where, err)
	}
	defer closer()
	limited := &io.LimitedReader{R: in, N: maxLayer}
	files = map[string][]byte{}
	for tr := tar.NewReader(limited); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files, removed, nil
		}
		if err != nil {
			return nil, false, damagedLayer(where, err)
		}
		name := path.Clean("/" + h.Name)[1:]
		removed = removed || whiteouts[name]
		base, ok := wanted[name]
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if files[base], err = readMember(tr, h.Size, where+": "+name); err != nil {
			return nil, false, err
		}
	}
}

// wanted are the files by their path in the image.
var wanted = map[string]string{
	folder + "/" + referencesFile: referencesFile,
	folder + "/" + metadataFile:   metadataFile,
}

// whiteouts are the marks by which a layer removes what lies below:
// https://github.com/opencontainers/image-spec/blob/main/layer.md#whiteouts
var whiteouts = map[string]bool{
	".wh." + folder:                   true,
	folder + "/.wh." + referencesFile: true,
	folder + "/.wh..wh..opq":          true,
}

func readMember(r io.Reader, size int64, where string) ([]byte, error) {
	if size > maxText {
		return nil, tooLarge(where)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, damagedLayer(where, err)
	}
	return b, nil
}

func damagedLayer(where string, err error) error {
	return &fault.Error{
		What: "a layer that can't be unpacked: " + err.Error(), Where: where, Err: err,
		Fix: "copy the image again: skopeo copy docker://RELEASE oci:DIR",
	}
}

// codec is how bytes are compressed.
type codec int

const (
	none codec = iota
	gzipped
	zstandard
)

func compression(head []byte) codec {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return gzipped
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return zstandard
	}
	return none
}

// inflate undoes a layer's compression, told by its bytes: tools get media
// types wrong.
func inflate(r io.Reader) (io.Reader, func(), error) {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	switch compression(head) {
	case gzipped:
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, nil, fmt.Errorf("read gzip: %w", err)
		}
		return z, func() { _ = z.Close() }, nil
	case zstandard:
		z, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			return nil, nil, fmt.Errorf("read zstd: %w", err)
		}
		return z, z.Close, nil
	case none:
	}
	return br, func() {}, nil
}

// contextReader ends a read of a local blob with its context; a registry's
// client sees to that itself.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
