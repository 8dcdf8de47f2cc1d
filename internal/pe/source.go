package pe

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// source is the file: a reader that knows where it ends.
type source struct {
	r    io.ReaderAt
	size int64
}

func (s source) has(off, n int64) bool {
	return off >= 0 && n >= 0 && off <= s.size && n <= s.size-off
}

// read fills p from off. what names it in errors. A range that the file hasn't
// got is ErrDamaged, a failing reader's error is passed on.
func (s source) read(p []byte, off int64, what string) error {
	if !s.has(off, int64(len(p))) {
		return fmt.Errorf("%w: %s at byte %d needs %d bytes, the file ends at %d", ErrDamaged, what, off, len(p), s.size)
	}
	n, err := s.r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		// The caller said how long the file is, and it is shorter.
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %s at byte %d: %w", what, off, err)
}

func (s source) decode(v any, off int64, what string) error {
	p := make([]byte, binary.Size(v))
	if err := s.read(p, off, what); err != nil {
		return err
	}
	_, err := binary.Decode(p, binary.LittleEndian, v)
	return err
}

func (s source) stream(off, n int64) *bufio.Reader {
	return bufio.NewReaderSize(io.NewSectionReader(s.r, off, n), 128<<10)
}
