package pe

import (
	"fmt"
	"io"
)

// Read reads the headers and the Go build information of the executable in the
// first size bytes of r. The error wraps ErrNotPE, ErrDamaged, or what r
// returned.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f := &File{r: source{r: r, size: size}}
	for _, step := range []func() error{f.readHeader, f.readSections, f.findOverlay, f.readBuild} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("read executable: %w", err)
		}
	}
	return f, nil
}
