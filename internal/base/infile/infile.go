// Package infile opens files that a user names: regular ones alone, since a
// named pipe that nobody writes to blocks for ever, and a device may never end.
//
// Its errors are fs.PathError, as package os has them: the caller knows what
// the file was for, and says so.
package infile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Limits for Read: of what people write, and of programs and such.
const (
	Text = 16 << 20
	Any  = 1 << 30
)

// Open opens a regular file to be read. Links are followed.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := Check(info); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.Open(name)
}

// Read returns the content of a regular file that has at most limit bytes.
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return bounded(name, f, limit)
}

// ReadOr is Read, and of what stdin holds where name is "-".
func ReadOr(stdin io.Reader, name string, limit int64) ([]byte, error) {
	if name == "-" {
		return bounded("stdin", stdin, limit)
	}
	return Read(name, limit)
}

func bounded(name string, r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it has more than %d bytes", limit)}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Check says what a file is that isn't a regular one.
func Check(info fs.FileInfo) error {
	switch mode := info.Mode().Type(); {
	case mode == 0:
		return nil
	case mode == fs.ModeDir:
		return syscall.EISDIR
	case mode == fs.ModeNamedPipe:
		return errors.New("it is a pipe, not a regular file")
	case mode == fs.ModeSocket:
		return errors.New("it is a socket, not a regular file")
	case mode&fs.ModeDevice != 0:
		return errors.New("it is a device, not a regular file")
	default:
		return fmt.Errorf("it is %s, not a regular file", mode)
	}
}

// Cause is an error without the operation and the path that package os puts in
// front: they are said elsewhere.
func Cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
