package rootfs

import (
	"archive/tar"
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/google/go-containerregistry/pkg/compression"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
	"github.com/winbake/winbake/internal/image/oci"
)

// layerStream is a layer's tar, inflated in another goroutine and checked
// against its diff id at the end.
type layerStream struct {
	blob   io.ReadCloser
	forget func() bool // the context
	ahead  io.ReadCloser
	hash   hash.Hash
	diffID v1.Hash
}

// openLayer starts to read a layer. m counts its compressed bytes, from another
// goroutine.
func openLayer(ctx context.Context, s *oci.Source, l v1.Layer, diffID v1.Hash, b *budget, m *stream.Meter) (*layerStream, error) {
	blob, err := l.Compressed()
	if err != nil {
		return nil, err
	}
	in := &inflater{
		blob: blob, counted: &countingReader{r: io.TeeReader(blob, m)}, budget: b,
		where: s.LayerPlace(l), damaged: func(what string) error { return s.DamagedLayer(l, what) },
	}
	// A read of a registry that sends nothing ends with the context of Load alone,
	// which may live longer than this one.
	forget := context.AfterFunc(ctx, func() { _ = blob.Close() })
	return &layerStream{blob: blob, forget: forget, ahead: newReadAhead(ctx, in), hash: sha256.New(), diffID: diffID}, nil
}

func (l *layerStream) Read(p []byte) (int, error) {
	n, err := l.ahead.Read(p)
	l.hash.Write(p[:n])
	return n, err
}

// finish reads what tar left over and checks the diff id. A layer is only
// known to be right after it.
func (l *layerStream) finish(s *oci.Source, v v1.Layer) error {
	if _, err := io.Copy(io.Discard, l); err != nil {
		return err
	}
	if got := hex.EncodeToString(l.hash.Sum(nil)); got != l.diffID.Hex {
		return s.DamagedLayer(v, fmt.Sprintf("the layer unpacks to sha256:%s, but the image's configuration says %s", got, l.diffID))
	}
	return nil
}

func (l *layerStream) Close() {
	l.forget()
	// The blob goes first: a registry that stalls must not hold up the end of
	// an interrupted run.
	_ = l.blob.Close()
	_ = l.ahead.Close()
}

// inflater undoes a blob's compression lazily, within the budget, and
// sorts out errors: a decoder stumbles over damage before the blob's digest
// can tell that it is damage.
type inflater struct {
	blob    io.Reader
	counted *countingReader
	budget  *budget
	where   string
	damaged func(what string) error
	r       io.Reader
	close   func() error
}

func (i *inflater) Read(p []byte) (int, error) {
	if i.r == nil {
		rc, err := Inflate(i.counted)
		if err != nil {
			return 0, i.Fault(err)
		}
		i.r, i.close = i.budget.reader(i.where, rc, i.counted.n.Load), rc.Close
	}
	n, err := i.r.Read(p)
	if err == nil {
		return n, nil
	}
	_ = i.close()
	if err != io.EOF {
		return n, i.Fault(err)
	}
	// The decoder may stop before the blob does; its digest is told at EOF.
	if _, derr := io.Copy(io.Discard, i.counted); derr != nil {
		return n, derr
	}
	return n, io.EOF
}

func (i *inflater) Fault(err error) error {
	if isOurs(err) {
		return err
	}
	if _, derr := io.Copy(io.Discard, i.blob); derr != nil {
		return derr
	}
	return i.damaged("the layer can't be inflated: " + err.Error())
}

// eachEntry calls fn for every entry of layer i, whose content is good until
// fn returns, and then checks the whole layer.
func (im *imageLayers) eachEntry(ctx context.Context, i int, fn func(*tar.Header, io.Reader) error) error {
	l := im.layers[i]
	st, err := openLayer(ctx, im.source, l, im.diffIDs[i], im.budget, im.meter)
	if err != nil {
		return err
	}
	defer st.Close()
	tr := tar.NewReader(st)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return im.end(st, l)
		}
		if err == nil {
			err = ctx.Err() // what is read already comes without asking ctx
		}
		if err == nil {
			err = fn(h, tr)
		}
		if err != nil {
			return im.tarFault(st, l, err)
		}
	}
}

// end makes sure that nothing follows the tar: readers that go on behind its
// end, as `tar -i` does, would unpack what isn't checked.
func (im *imageLayers) end(st *layerStream, l v1.Layer) error {
	_, more := errors.AsType[*ArchiveError](onlyZeros(st))
	if err := st.finish(im.source, l); err != nil {
		return err
	}
	if more {
		return im.source.DamagedLayer(l, "the layer has bytes after the end of its tar archive")
	}
	return nil
}

// tarFault turns an error of archive/tar into a fault, unless the layer's
// bytes are damaged, which explains it better.
func (im *imageLayers) tarFault(st *layerStream, l v1.Layer, err error) error {
	if errors.Is(err, tar.ErrFieldTooLong) {
		return longHeader(im.source.LayerPlace(l))
	}
	if !errors.Is(err, tar.ErrHeader) && !errors.Is(err, io.ErrUnexpectedEOF) || isOurs(err) {
		return err
	}
	if ferr := st.finish(im.source, l); ferr != nil {
		return ferr
	}
	return im.source.DamagedLayer(l, "the layer isn't a whole tar archive: "+err.Error())
}

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
	switch oci.Sniff(head) {
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

// imageLayers is the layers of one image, the lowest first, as a tree of
// files is put together from them.
type imageLayers struct {
	source  *oci.Source
	layers  []v1.Layer
	diffIDs []v1.Hash
	budget  *budget
	meter   *stream.Meter // a layer that is read again for its links counts no more
}

func newImageLayers(s *oci.Source, img v1.Image, b *budget, tell stream.Progress) (*imageLayers, error) {
	layers, diffIDs, err := s.LayersOf(img)
	if err != nil {
		return nil, err
	}
	im := &imageLayers{source: s, layers: layers, diffIDs: diffIDs, budget: b}
	var total int64
	for i := range layers {
		total += im.size(i)
	}
	im.meter = stream.NewMeter(tell, total)
	return im, nil
}

func (im *imageLayers) size(i int) int64 {
	n, _ := im.layers[i].Size() // as its manifest says
	return n
}

// skip counts a layer that needn't be read.
func (im *imageLayers) skip(i int) { im.meter.Add(im.size(i)) }

func (im *imageLayers) count() int { return len(im.layers) }
