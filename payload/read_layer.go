package payload

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// layerStream is a layer's tar, inflated in another goroutine and checked
// against its diff id at the end.
type layerStream struct {
	blob   *layerBlob
	ahead  *readAhead
	hash   hash.Hash
	diffID v1.Hash
}

// openLayer starts to read a layer. progress is called with the compressed
// bytes that have been read of it, from another goroutine.
func openLayer(ctx context.Context, s *Source, l v1.Layer, diffID v1.Hash, b *budget, progress func(int64)) (*layerStream, error) {
	blob, err := s.openBlob(l)
	if err != nil {
		return nil, err
	}
	in := &inflater{blob: blob, counted: &countingReader{r: blob}, budget: b, where: s.layerPlace(l), fix: s.repair(), progress: progress}
	return &layerStream{
		blob: blob, ahead: newReadAhead(ctx, in), hash: sha256.New(), diffID: diffID,
	}, nil
}

func (l *layerStream) Read(p []byte) (int, error) {
	n, err := l.ahead.Read(p)
	l.hash.Write(p[:n])
	return n, err
}

// finish reads what tar left over and checks the diff id. A layer is only
// known to be right after it.
func (l *layerStream) finish(s *Source, v v1.Layer) error {
	if _, err := io.Copy(io.Discard, l); err != nil {
		return err
	}
	if got := hex.EncodeToString(l.hash.Sum(nil)); got != l.diffID.Hex {
		return damaged(s.layerPlace(v), fmt.Sprintf(
			"the layer unpacks to sha256:%s, but the image's configuration says %s", got, l.diffID), s.repair())
	}
	return nil
}

func (l *layerStream) Close() {
	// The blob goes first: a registry that stalls must not hold up the end of
	// an interrupted run.
	_ = l.blob.Close()
	l.ahead.Close()
}

// inflater undoes a blob's compression lazily, within the budget, and
// sorts out errors: a decoder stumbles over damage before the blob's digest
// can tell that it is damage.
type inflater struct {
	blob     *layerBlob
	counted  *countingReader
	budget   *budget
	where    string
	fix      string
	progress func(int64)
	r        io.Reader
	close    func() error
}

func (i *inflater) Read(p []byte) (int, error) {
	if i.r == nil {
		rc, err := inflate(i.counted)
		if err != nil {
			return 0, i.fault(err)
		}
		i.r, i.close = i.budget.reader(i.where, rc, i.counted.n.Load), rc.Close
	}
	n, err := i.r.Read(p)
	if i.progress != nil {
		i.progress(i.counted.n.Load())
	}
	if err == nil {
		return n, nil
	}
	_ = i.close()
	if err != io.EOF {
		return n, i.fault(err)
	}
	// The decoder may stop before the blob does; its digest is told at EOF.
	if _, derr := io.Copy(io.Discard, i.counted); derr != nil {
		return n, derr
	}
	return n, io.EOF
}

func (i *inflater) fault(err error) error {
	if isOurs(err) {
		return err
	}
	if _, derr := io.Copy(io.Discard, i.blob); derr != nil {
		return derr
	}
	return damaged(i.where, "the layer can't be inflated: "+err.Error(), i.fix)
}

// layerPlace names a layer for people.
func (s *Source) layerPlace(l v1.Layer) string {
	h, err := l.Digest()
	if err != nil {
		return s.name
	}
	return s.blobPlace(h)
}

// blobPlace names a blob for people.
func (s *Source) blobPlace(h v1.Hash) string {
	if s.blobs != nil {
		return s.blobs.where(v1.Descriptor{Digest: h})
	}
	return s.name + "@" + h.String()
}

// repair says how to get the source whole again.
func (s *Source) repair() string {
	if s.blobs != nil {
		return s.blobs.fix()
	}
	return "build and push the image again"
}

// eachEntry calls fn for every entry of layer i, whose content is good until
// fn returns, and then checks the whole layer.
func (im *imageLayers) eachEntry(ctx context.Context, i int, fn func(*tar.Header, io.Reader) error) error {
	l := im.layers[i]
	st, err := openLayer(ctx, im.source, l, im.diffIDs[i], im.budget, im.progress(i))
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
		return damaged(im.source.layerPlace(l), "the layer has bytes after the end of its tar archive", im.source.repair())
	}
	return nil
}

// tarFault turns an error of archive/tar into a fault, unless the layer's
// bytes are damaged, which explains it better.
func (im *imageLayers) tarFault(st *layerStream, l v1.Layer, err error) error {
	if errors.Is(err, tar.ErrFieldTooLong) {
		return longHeader(im.source.layerPlace(l))
	}
	if !errors.Is(err, tar.ErrHeader) && !errors.Is(err, io.ErrUnexpectedEOF) || isOurs(err) {
		return err
	}
	if ferr := st.finish(im.source, l); ferr != nil {
		return ferr
	}
	return damaged(im.source.layerPlace(l), "the layer isn't a whole tar archive: "+err.Error(), im.source.repair())
}
