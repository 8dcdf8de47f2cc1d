package guest

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/pkg/sftp"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/stream"
)

// Put is Guest's.
func (s *SSH) Put(ctx context.Context, name string, content io.Reader) error {
	c, err := s.sftp()
	if err != nil {
		return err
	}
	if dir := path.Dir(name); dir != "." {
		if err := c.MkdirAll(dir); err != nil {
			return s.cantWrite(dir, err)
		}
	}
	part := name + "." + rand.Text() + ".part" // another upload of the same file may be under way
	if err := s.putPart(ctx, c, part, name, content); err != nil {
		_ = c.Remove(part) // as long as there is a connection
		return err
	}
	return nil
}

// putPart uploads under one name and gives the file the other when it is whole.
func (s *SSH) putPart(ctx context.Context, c *sftp.Client, part, name string, content io.Reader) error {
	n, err := s.upload(ctx, c, part, content)
	if err != nil {
		return err
	}
	// A file that lost its end says so nowhere but in its size.
	switch info, err := c.Stat(part); {
	case err != nil:
		return s.cantWrite(name, err)
	case info.Size() != n:
		return &fault.Error{Where: s.target.String(), What: fmt.Sprintf("the upload of %s was cut: %d bytes were sent, %d arrived", name, n, info.Size()),
			Fix: "look at the machine's disk, then run the same command again"}
	}
	err = c.PosixRename(part, name)
	if err != nil { // a server without the extension renames to free names alone
		_ = c.Remove(name)
		err = c.Rename(part, name)
	}
	if err == nil {
		return nil
	}
	if _, serr := c.Stat(name); serr == nil {
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	return s.cantWrite(name, err)
}

func (s *SSH) upload(ctx context.Context, c *sftp.Client, name string, content io.Reader) (int64, error) {
	f, err := c.Create(name)
	if errors.Is(err, fs.ErrNotExist) { // another run tidied the folder away meanwhile
		_ = c.MkdirAll(path.Dir(name))
		f, err = c.Create(name)
	}
	if err != nil {
		return 0, s.cantWrite(name, err)
	}
	source := &stream.Source{R: content}
	n, err := f.ReadFromWithConcurrency(stream.NewReader(ctx, source), 0)
	err = cmp.Or(err, f.Close())
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case source.Err != nil:
		return 0, source.Err
	case err != nil:
		return 0, s.cantWrite(name, err)
	}
	return n, nil
}

// cantWrite says what the machine refused, or that it is gone.
func (s *SSH) cantWrite(name string, err error) error {
	status, refused := errors.AsType[*sftp.StatusError](err)
	text := err.Error()
	if refused {
		text = status.Error()
	}
	f := &fault.Error{Where: s.target.String() + ":" + name, What: "can't be written there: " + text, Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission):
		f.Fix = "see who may write into that user's folder on the machine"
	case strings.Contains(text, "space"):
		f.What, f.Fix = "the machine's disk is full: "+text, "make room on it, then run the same command again"
	case refused:
		f.Fix = "look at the machine's disk and that user's folder, then run the same command again"
	default:
		return s.broken("files were uploaded", err)
	}
	return f
}
