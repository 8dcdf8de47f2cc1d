package deploy

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/node/agent"
	"github.com/winbake/winbake/internal/node/guest"
	"github.com/winbake/winbake/internal/ociimage/rootfs"
	"github.com/winbake/winbake/payload"
)

// uploads is how many files go up at once: enough that a small file's round
// trips hide behind a large one's bytes.
const uploads = 4

// missing are the files that the node doesn't have, nor their upload.
func missing(e *node.Expectation, f *node.Facts) []node.File {
	var out []node.File
	for _, want := range e.Files {
		i := slices.IndexFunc(f.Files, func(g node.FileFacts) bool { return node.SamePath(g.Path, want.Path) })
		if i >= 0 {
			if sum, ok := f.Files[i].SHA256.Get(); ok && sum == want.SHA256 {
				continue
			}
		}
		if !slices.Contains(f.Staged, want.SHA256+agent.StagedSuffix) {
			out = append(out, want)
		}
	}
	return out
}

// upload brings the files of the image to the node: while one is taken out of
// the image and compressed, it goes up already, and others do.
func (n *Node) upload(ctx context.Context, im *Image, files []node.File) error {
	temp, err := os.MkdirTemp("", "winbake-node-")
	if err != nil {
		return fmt.Errorf("make a folder for what is uploaded: %w", err)
	}
	defer os.RemoveAll(temp) // a folder for temporary files
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	err = im.packAll(ctx, files, func(f node.File) (sink, error) {
		g, err := newSpoolFile(temp)
		if err != nil {
			return nil, err
		}
		group.Go(func() error { return n.send(ctx, f, g) })
		return g, nil
	})
	if werr := group.Wait(); werr != nil {
		return werr // it ended the walk
	}
	return err
}

// Pack takes files out of the image and compresses each, as verify.exe takes
// them, into a file below dir. taken is told of each as soon as it's there, in
// the order of the image; it must not wait long.
func (im *Image) Pack(ctx context.Context, dir string, files []node.File, taken func(f node.File, packed string) error) error {
	return im.packAll(ctx, files, func(f node.File) (sink, error) {
		out, err := os.CreateTemp(dir, "")
		return &packedFile{out, func() error { return taken(f, out.Name()) }}, err
	})
}

// sink takes a packed file, and is told how it ended.
type sink interface {
	io.Writer
	end(err error) error
}

// packedFile is a sink that is a file, of which somebody is told when it's
// whole.
type packedFile struct {
	*os.File
	whole func() error
}

func (p *packedFile) end(err error) error {
	if cerr := p.Close(); err != nil || cerr != nil {
		return cerr
	}
	return p.whole()
}

func (im *Image) packAll(ctx context.Context, files []node.File, begin func(f node.File) (sink, error)) error {
	u := &uploader{want: map[string]node.File{}, begin: begin}
	for _, f := range files {
		u.want[f.Payload] = f
	}
	if len(u.want) == 0 {
		return nil
	}
	err := rootfs.Walk(ctx, im.source, rootfs.Options{Roots: []string{payload.Root}}, u.visit)
	if err != nil && !errors.Is(err, errAll) {
		return err
	}
	for _, f := range u.want {
		return &fault.Error{Where: im.Reference, What: "the image has no /payload/" + f.Payload + ", which its node.json names", Fix: "make the payload again: bake payload"}
	}
	return nil
}

// errAll ends the walk when all files were found. Each was checked against
// the sum that node.json gives, so the rest of the layer needn't be read.
var errAll = errors.New("all files were found")

type uploader struct {
	want  map[string]node.File // by path below /payload
	begin func(f node.File) (sink, error)
}

func (u *uploader) visit(e *rootfs.Entry) error {
	if e.Mode.IsDir() {
		return nil
	}
	name := strings.TrimSuffix(strings.TrimPrefix(e.Path, payload.Root+"/"), payload.ArchiveSuffix)
	f, ok := u.want[name]
	if !ok {
		return nil
	}
	content := e.Content
	if e.Archived() {
		m, err := e.Member()
		if err != nil {
			return err
		}
		content = m.Content
	}
	to, err := u.begin(f)
	if err != nil {
		return err
	}
	delete(u.want, name)
	err = pack(to, f, content)
	if eerr := to.end(err); err == nil {
		err = eerr
	}
	if err == nil && len(u.want) == 0 {
		return errAll
	}
	return err
}

// pack compresses a file for the way and checks that it is the expected one:
// when it isn't, anyone who reads on gets the error instead of an end.
func pack(to io.Writer, f node.File, content io.Reader) error {
	z, err := zstd.NewWriter(to, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return err
	}
	h := sha256.New()
	size, err := io.Copy(io.MultiWriter(z, h), content)
	if cerr := z.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("take %s out of the image: %w", f.Payload, err)
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != f.SHA256 || size != f.Size {
		return &fault.Error{Where: "/payload/" + f.Payload, What: fmt.Sprintf("the image's file has sha256 %s, its node.json says %s", sum, f.SHA256), Fix: "make the payload again: bake payload"}
	}
	return nil
}

func (n *Node) send(ctx context.Context, f node.File, packed *spoolFile) error {
	defer packed.close() //nolint:errcheck // the folder goes too
	n.say("uploading " + f.Component + " (" + f.Payload + ")")
	err := n.Guest.Put(ctx, n.folder()+"/stage/"+f.SHA256+agent.StagedSuffix, packed)
	if errors.Is(err, guest.ErrInUse) {
		return nil // another run brought it, and unpacks it now: the name is the sum, which is checked there
	}
	return err
}

// spoolFile is a file that one goroutine writes and another reads meanwhile: an
// upload doesn't wait until all of its file is packed, and the packing doesn't
// wait for the line.
type spoolFile struct {
	file *os.File
	at   int64 // read so far

	mu    sync.Mutex
	more  *sync.Cond
	size  int64
	ended bool
	err   error // of the writer
}

func newSpoolFile(dir string) (*spoolFile, error) {
	f, err := os.CreateTemp(dir, "")
	if err != nil {
		return nil, err
	}
	g := &spoolFile{file: f}
	g.more = sync.NewCond(&g.mu)
	return g, nil
}

// Write is io.Writer's, for one goroutine.
func (g *spoolFile) Write(p []byte) (int, error) {
	n, err := g.file.Write(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size += int64(n)
	g.more.Broadcast()
	return n, err
}

// end says that nothing more comes. The reader gets err after the last byte,
// or io.EOF for none.
func (g *spoolFile) end(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended, g.err = true, err
	g.more.Broadcast()
	return nil
}

// close removes the file. Writer and reader must have ended.
func (g *spoolFile) close() error {
	return errors.Join(g.file.Close(), os.Remove(g.file.Name()))
}

// Read is io.Reader's, for one goroutine. It waits for the writer.
func (g *spoolFile) Read(p []byte) (int, error) {
	g.mu.Lock()
	for g.size == g.at && !g.ended {
		g.more.Wait()
	}
	there, err := g.size-g.at, cmp.Or(g.err, io.EOF)
	g.mu.Unlock()
	if there == 0 {
		return 0, err
	}
	n, err := g.file.ReadAt(p[:min(int64(len(p)), there)], g.at)
	g.at += int64(n)
	return n, err
}
