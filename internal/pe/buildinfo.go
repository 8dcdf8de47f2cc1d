package pe

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// maxBuildInfoRead bounds one read of the build information, in bytes. A
// kubelet's is 15 KB long; the standard library searches in steps of 1 MiB.
const maxBuildInfoRead = 1 << 20

var errLongBuildInfo = errors.New("build information longer than 1 MiB")

// readBuild reads the Go build information; why says why there is none, err is
// what the file's reader returned. debug/pe, which this rests upon, "is not
// designed to be hardened against adversarial inputs": it gets a view of the
// file without the tables that it would load whole and nobody needs here, and a
// panic in it means that there is no build information.
func readBuild(s source, h *header) (info *debug.BuildInfo, why, err error) {
	defer func() {
		if p := recover(); p != nil {
			info, why, err = nil, fmt.Errorf("%w: read Go build information: %v", ErrDamaged, p), nil
		}
	}()
	v, err := newView(s, h)
	if err != nil {
		return nil, nil, err
	}
	info, why = buildinfo.Read(v)
	if v.err != nil {
		return nil, nil, fmt.Errorf("read Go build information: %w", v.err)
	}
	if why != nil {
		return nil, fmt.Errorf("read Go build information: %w", why), nil
	}
	return info, nil, nil
}

// view is the file with symbol table, relocations and line numbers blanked out
// of its headers. Loading them would cost 0.1 s and 64 MiB for a kubelet, where
// the rest takes less than 1 ms.
type view struct {
	s    source
	head []byte // stands in for the file's bytes at at
	at   int64
	err  error // why a read failed, if not for the file's end
}

func newView(s source, h *header) (*view, error) {
	v := &view{s: s, at: h.at + 4}
	v.head = make([]byte, h.sectionTable()-v.at+sectionSize*int64(h.coff.NumberOfSections))
	if err := s.read(v.head, v.at, "headers"); err != nil {
		return nil, err
	}
	clear(v.head[8:16]) // PointerToSymbolTable, NumberOfSymbols
	for c := v.head[h.sectionTable()-v.at:]; len(c) != 0; c = c[sectionSize:] {
		if c[0] == '/' {
			c[0] = '_' // a name in the string table, which the view hasn't got
		}
		clear(c[24:36]) // relocations and line numbers: pointers, counts
	}
	return v, nil
}

// ReadAt implements io.ReaderAt.
func (v *view) ReadAt(p []byte, off int64) (int, error) {
	if len(p) > maxBuildInfoRead {
		return 0, errLongBuildInfo
	}
	if off < 0 || off >= v.s.size {
		return 0, io.EOF
	}
	n, err := v.s.r.ReadAt(p[:min(int64(len(p)), v.s.size-off)], off)
	if err != nil && !errors.Is(err, io.EOF) {
		v.err = err
	}
	if err == nil && n < len(p) {
		err = io.EOF
	}
	v.patch(p[:n], off)
	return n, err
}

// patch copies the part of head that falls into p, which was read at off.
func (v *view) patch(p []byte, off int64) {
	from, to := max(off, v.at), min(off+int64(len(p)), v.at+int64(len(v.head)))
	if from < to {
		copy(p[from-off:], v.head[from-v.at:to-v.at])
	}
}
