package rootfs

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/google/go-containerregistry/pkg/compression"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/ociimage"
)

// maxWindow bounds the memory that a zstd stream may ask for. It is what
// `zstd --long` uses.
const maxWindow = 128 << 20

// Inflate returns r without its compression, whatever that is. Close lets go
// of the decoder, not of r.
func Inflate(r io.Reader) (io.ReadCloser, error) {
	br := bufio.NewReaderSize(r, 256<<10)
	head, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch ociimage.Sniff(head) {
	case compression.GZip:
		return gzip.NewReader(br)
	case compression.ZStd:
		// One goroutine: readAhead puts the decoder onto its own already.
		d, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	default:
		return io.NopCloser(br), nil
	}
}

// isOurs tells an error that already says what a person needs, or that ends a
// run, from one of a decoder or archive reader.
func isOurs(err error) bool {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return true
	}
	if _, ok := errors.AsType[*LimitError](err); ok {
		return true
	}
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
