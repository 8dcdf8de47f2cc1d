package comm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/internal/base/fault"
)

const (
	// sessions is how many there are at once. Packer's SFTP waits for an answer
	// to every 32 KiB, so one upload is bound by the round trip and not by the
	// line. sshd allows ten sessions on a connection (MaxSessions), those that
	// just end among them, and Packer answers a refusal by connecting again.
	sessions = 6
	// pieceSize is the least that is worth a session of its own, in bytes.
	pieceSize = 2 << 20
	// maxPieces keeps the command that joins them below cmd.exe's 8191
	// characters.
	maxPieces = 24

	// underWay is more than lies between here and Packer's communicator: two
	// streams of yamux with 256 KiB each (plugin to Packer, Packer to the
	// builder's plugin), and 32 KiB in each copy. An upload that has taken more
	// has a session.
	underWay = 640 << 10

	partSuffix = ".part"
)

// Put is Guest's. Large content goes up in pieces side by side, which the
// machine joins. They are under another name until all is there.
func (g *Guest) Put(ctx context.Context, name string, content io.Reader) error {
	source, size, err := seekable(content)
	if err != nil {
		return fmt.Errorf("read what is uploaded to %s: %w", name, err)
	}
	if err := g.makeFolder(ctx, path.Dir(name)); err != nil {
		return err
	}
	if got, err := g.fetched(ctx, name, source, size); got || err != nil {
		return err
	}
	sections := split(source, size)
	if len(sections) == 1 {
		if err := g.upload(ctx, name+partSuffix, sections[0]); err != nil {
			return err
		}
		return g.must(ctx, name, "move /y", windows(name+partSuffix), windows(name))
	}
	prefix := fmt.Sprintf("%s/p%d-", path.Dir(name), g.names.Add(1))
	var pieces []string
	group, sending := errgroup.WithContext(ctx)
	for i, s := range sections {
		piece := prefix + strconv.Itoa(i)
		pieces = append(pieces, windows(piece))
		group.Go(func() error { return g.upload(sending, piece, s) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := g.must(ctx, name, "copy /b /y", strings.Join(pieces, "+"), windows(name+partSuffix)); err != nil {
		return err
	}
	if err := g.must(ctx, name, "move /y", windows(name+partSuffix), windows(name)); err != nil {
		return err
	}
	return g.must(ctx, name, "del /q", windows(prefix)+"*")
}

// seekable returns content that can be read in several places at once.
func seekable(content io.Reader) (io.ReaderAt, int64, error) {
	if f, ok := content.(interface {
		io.ReaderAt
		io.Seeker
	}); ok {
		size, err := f.Seek(0, io.SeekEnd)
		return f, size, err
	}
	data, err := io.ReadAll(content)
	return bytes.NewReader(data), int64(len(data)), err
}

// split cuts content into pieces of about the same size, one at least.
func split(source io.ReaderAt, size int64) []*io.SectionReader {
	count := min(max(1, size/pieceSize), maxPieces)
	each := (size + count - 1) / count
	var out []*io.SectionReader
	for at := int64(0); at < size || at == 0; at += max(each, 1) {
		out = append(out, io.NewSectionReader(source, at, min(each, size-at)))
	}
	return out
}

func (g *Guest) upload(ctx context.Context, name string, s *io.SectionReader) error {
	where, err := g.path(ctx, name)
	if err != nil {
		return err
	}
	opened, ended, err := g.session(ctx)
	if err != nil {
		return err
	}
	r := &counted{r: s, opened: opened}
	done := make(chan error, 1)
	go func() {
		defer ended()
		done <- g.comm.Upload(where, r, nil)
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err = <-done:
	}
	// Packer takes what can't be read here for the end of the file.
	if err == nil && r.n.Load() != s.Size() {
		err = errors.New("it couldn't be read to its end here")
	}
	if err != nil {
		return &fault.Error{Where: name, What: "the upload failed: " + err.Error(), Fix: again, Err: err}
	}
	return nil
}

type counted struct {
	r      io.Reader
	n      atomic.Int64
	opened func()
}

// Read is io.Reader's.
func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.n.Add(int64(n)) > underWay {
		c.opened()
	}
	return n, err
}

// makeFolder makes a folder with those above it, once.
func (g *Guest) makeFolder(ctx context.Context, dir string) error {
	g.making.Lock()
	defer g.making.Unlock()
	if dir == "." || g.folders[dir] {
		return nil
	}
	// Its exit code is 1 for a folder that is there; that one can't be made is
	// seen at the upload.
	_, err := g.Run(ctx, "cmd /c mkdir "+windows(dir), nil, nil)
	g.folders[dir] = err == nil
	return err
}

// must runs one of cmd.exe's own commands, whatever the machine's shell is.
func (g *Guest) must(ctx context.Context, name string, command ...string) error {
	var out bytes.Buffer
	code, err := g.Run(ctx, "cmd /c "+strings.Join(command, " "), &out, &out)
	if err != nil {
		return err
	}
	if code != 0 {
		return &fault.Error{Where: name, What: fmt.Sprintf("the machine can't put the upload into its place: exit code %d", code), Excerpt: out.String(), Fix: "look at the machine's disk and at who may write there"}
	}
	return nil
}
