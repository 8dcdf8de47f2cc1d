package rootfs

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/klauspost/readahead"

	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/oci"
)

// imageLayers is the layers of one image, the lowest first.
type imageLayers struct {
	source  *oci.Source
	budget  *budget
	layers  []v1.Layer
	diffIDs []v1.Hash
	meter   *stream.Meter
}

func newImageLayers(s *oci.Source, img v1.Image, b *budget, tell stream.Progress) (im *imageLayers, total int64, err error) {
	layers, diffIDs, err := s.LayersOf(img)
	if err != nil {
		return nil, 0, err
	}
	for _, l := range layers {
		n, err := l.Size()
		if err != nil {
			return nil, 0, err
		}
		total += n
	}
	return &imageLayers{s, b, layers, diffIDs, stream.NewMeter(tell, total)}, total, nil
}

func (im *imageLayers) count() int { return len(im.layers) }

// each calls fn for every entry of a layer, whose content is good until fn
// returns, and then checks the whole layer against its diff id.
func (im *imageLayers) each(ctx context.Context, i int, fn func(*tar.Header, io.Reader) error) error {
	l, s := im.layers[i], im.source
	blob, err := l.Compressed()
	if err != nil {
		return err
	}
	// A read of a registry that sends nothing ends with the context of Load alone,
	// which may live longer than this one.
	stop := context.AfterFunc(ctx, func() { _ = blob.Close() })
	in := &inflater{blob: stream.NewReader(ctx, io.TeeReader(blob, im.meter))}
	// Inflated in another goroutine, so that it overlaps with hashing. Larger blocks
	// than these fall out of the processor's cache.
	ahead, err := readahead.NewReaderSize(im.budget.limit(s.LayerPlace(l), in), 4, stream.BufferSize)
	if err != nil {
		panic(err) // of a size below one
	}
	defer func() {
		stop()
		// The blob goes first: a registry that stalls must not hold up the end of an
		// interrupted run.
		_ = blob.Close()
		_ = ahead.Close()
	}()
	diffID := sha256.New()
	content := &stream.Source{R: io.TeeReader(ahead, diffID)}
	err = eachOf(ctx, tar.NewReader(content), fn)
	// Readers that go on behind a tar's end, as `tar -i` does, would unpack what isn't
	// checked.
	zeros := false
	if err == nil {
		zeros, err = onlyZeros(content)
	}
	got := hex.EncodeToString(diffID.Sum(nil))
	switch {
	case err != nil && !isOurs(err) && (content.Err != nil || errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF)):
		// A decoder stumbles over damage before the blob's digest can tell that it is
		// damage.
		_ = ahead.Close() // it reads no more then
		if _, derr := io.Copy(io.Discard, stream.NewReader(ctx, blob)); derr != nil {
			return derr
		}
		return s.DamagedLayer(l, "the layer isn't a whole tar archive: "+err.Error())
	case errors.Is(err, tar.ErrFieldTooLong):
		return longHeader(s.LayerPlace(l))
	case err != nil:
		return err
	case got != im.diffIDs[i].Hex:
		return s.DamagedLayer(l, fmt.Sprintf("the layer unpacks to sha256:%s, but the image's configuration says %s", got, im.diffIDs[i]))
	case !zeros:
		return s.DamagedLayer(l, "the layer has bytes after the end of its tar archive")
	}
	return nil
}

func eachOf(ctx context.Context, tr *tar.Reader, fn func(*tar.Header, io.Reader) error) error {
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err() // what is read ahead comes without asking it
		}
		if err == nil {
			err = fn(h, tr)
		}
		if err != nil {
			return err
		}
	}
}

// inflater undoes a blob's compression, once it is read from.
type inflater struct {
	blob io.Reader
	r    io.ReadCloser
}

func (i *inflater) Read(p []byte) (n int, err error) {
	if i.r == nil {
		if i.r, err = Inflate(i.blob); err != nil {
			return 0, err
		}
	}
	if n, err = i.r.Read(p); err != nil {
		_ = i.r.Close()
	}
	return n, err
}

// maxWindow bounds the memory that a zstd stream may ask for. It is what
// `zstd --long` uses.
const maxWindow = 128 << 20

// Inflate returns r without its compression, whatever that is. Close lets go
// of the decoder, not of r.
func Inflate(r io.Reader) (io.ReadCloser, error) {
	br := bufio.NewReaderSize(r, stream.BufferSize)
	head, err := br.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch oci.Sniff(head) {
	case compression.GZip:
		return gzip.NewReader(br)
	case compression.ZStd:
		d, err := zstd.NewReader(br, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	default:
		return io.NopCloser(br), nil
	}
}
