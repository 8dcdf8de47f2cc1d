package payload

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/fault"
)

type codecKind int

const (
	codecNone codecKind = iota
	codecGzip
	codecZstd
)

// maxWindow bounds the memory that a zstd stream may ask for. It is what
// `zstd --long` uses.
const maxWindow = 128 << 20

// sniff tells a compression by its first bytes. Media types aren't asked:
// tools get them wrong, and the bytes can't.
func sniff(head []byte) codecKind {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return codecGzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return codecZstd
	}
	return codecNone
}

// inflate returns r without its compression, whatever that is. Close lets go
// of the decoder, not of r.
func inflate(r io.Reader) (io.ReadCloser, error) {
	br := bufio.NewReaderSize(r, 256<<10)
	head, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch sniff(head) {
	case codecGzip:
		return gzip.NewReader(br)
	case codecZstd:
		// One goroutine: readAhead puts the decoder onto its own already.
		d, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	case codecNone:
	}
	return io.NopCloser(br), nil
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
