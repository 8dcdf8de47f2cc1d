package deploy

import (
	"errors"
	"io"
	"os"
	"sync"
)

// growing is a file that one goroutine writes and another reads meanwhile: an
// upload doesn't wait until all of its file is packed, and the packing doesn't
// wait for the line.
type growing struct {
	file *os.File

	mu    sync.Mutex
	more  *sync.Cond
	size  int64
	ended bool
	err   error // of the writer
}

func newGrowing(dir string) (*growing, error) {
	f, err := os.CreateTemp(dir, "")
	if err != nil {
		return nil, err
	}
	g := &growing{file: f}
	g.more = sync.NewCond(&g.mu)
	return g, nil
}

// Write is io.Writer's, for one goroutine.
func (g *growing) Write(p []byte) (int, error) {
	n, err := g.file.Write(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.size += int64(n)
	g.more.Broadcast()
	return n, err
}

// end says that nothing more comes. The reader gets err after the last byte,
// or io.EOF for none.
func (g *growing) end(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended, g.err = true, err
	g.more.Broadcast()
	return nil
}

// close removes the file. Writer and reader must have ended.
func (g *growing) close() error {
	return errors.Join(g.file.Close(), os.Remove(g.file.Name()))
}

func (g *growing) reader() io.Reader { return &growingReader{g: g} }

type growingReader struct {
	g  *growing
	at int64
}

// Read is io.Reader's. It waits for the writer.
func (r *growingReader) Read(p []byte) (int, error) {
	there, err := r.g.wait(r.at)
	if there == 0 {
		return 0, err
	}
	n, err := r.g.file.ReadAt(p[:min(int64(len(p)), there)], r.at)
	r.at += int64(n)
	return n, err
}

// wait returns how many bytes are there after an offset, once there are any,
// or how it ended.
func (g *growing) wait(at int64) (there int64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.size == at && !g.ended {
		g.more.Wait()
	}
	if g.size == at && g.err == nil {
		return 0, io.EOF
	}
	return g.size - at, g.err
}
