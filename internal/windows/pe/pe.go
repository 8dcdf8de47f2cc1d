// Package pe tells what a Windows executable says of itself: its header, the
// flags that the loader obeys, what is appended to it, the Go build
// information, and the values of string variables that the linker stamped.
//
// The file is untrusted. Every offset and count is checked against the file's
// size before it is used, nothing is allocated by the word of a header, and a
// file that contradicts itself is an error and never a panic. Memory stays
// small (below 2 MiB for the 80 MB of a kubelet) because sections and symbols
// are streamed and not loaded.
//
// It isn't a disassembler or a malware scanner, it doesn't check an
// Authenticode signature (it only says that there is one), and it doesn't
// judge: package expect does.
package pe

import (
	"bufio"
	"debug/buildinfo"
	"debug/pe"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
)

// The errors that callers tell apart.
var (
	// ErrNotPE is for a file that isn't a Windows executable at all.
	ErrNotPE = errors.New("not a Windows executable")
	// ErrDamaged is for a Windows executable that contradicts itself or is cut
	// short.
	ErrDamaged = errors.New("damaged executable")
	// ErrNoSymbols is for an executable without a symbol table (linked with -s).
	ErrNoSymbols = errors.New("no symbol table")
	// ErrNoSymbol is for a name that the symbol table doesn't hold.
	ErrNoSymbol = errors.New("no such symbol")
)

// File is what an executable says of itself. It holds on to the reader that it
// came from, for StringVar. Its methods may be called concurrently.
type File struct {
	PE32Plus           bool   // 64-bit form of the optional header
	Machine            uint16 // IMAGE_FILE_MACHINE_*, 0x8664 for amd64
	Subsystem          uint16 // IMAGE_SUBSYSTEM_*, 3 for console
	DllCharacteristics uint16 // IMAGE_DLLCHARACTERISTICS_*, see Flags
	TimeDateStamp      uint32 // Unix seconds, 0 from Go's linker
	CheckSum           uint32 // 0 from Go's linker
	ImageBase          uint64 // preferred load address
	Sections           []Section
	// Overlay counts the bytes that belong to nothing: neither to the headers,
	// nor to a section, the symbol and string table, or the certificate table.
	Overlay int64
	// Signed says that there is a certificate table, not that it is any good.
	Signed bool
	// Symbols says that there is a COFF symbol table, as `go build` leaves
	// without -ldflags=-s.
	Symbols bool
	// Build is the Go build information, nil when this isn't a Go program.
	Build *debug.BuildInfo
	// BuildErr says why Build is nil.
	BuildErr error

	r            source
	at           int64 // of the PE signature
	coff         pe.FileHeader
	headersSize  uint32           // as the optional header says it
	certificates pe.DataDirectory // unlike in the other directories, the address is a file offset
}

// Section is one section header. Name isn't looked up in the string table.
type Section struct{ pe.SectionHeader }

// Setting returns a build setting such as GOARCH or -trimpath; "" when it is
// absent or this isn't a Go program.
func (f *File) Setting(key string) string {
	if f.Build == nil {
		return ""
	}
	for _, s := range f.Build.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

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

// maxBuildInfoRead bounds one read of the build information, in bytes. A
// kubelet's is 15 KB long; the standard library searches in steps of 1 MiB.
const maxBuildInfoRead = 1 << 20

var errLongBuildInfo = errors.New("build information longer than 1 MiB")

// readBuild reads the Go build information; its error is what the file's reader
// returned. debug/pe, which this rests upon, "is not designed to be hardened
// against adversarial inputs": it gets a view of the file without the tables that
// it would load whole and nobody needs here, and a panic in it means that there is
// no build information.
func (f *File) readBuild() (err error) {
	v, err := newView(f)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			f.Build, f.BuildErr, err = nil, fmt.Errorf("%w: read Go build information: %v", ErrDamaged, p), nil
		}
	}()
	if f.Build, err = buildinfo.Read(v); err != nil {
		f.Build, f.BuildErr = nil, fmt.Errorf("read Go build information: %w", err)
	}
	if v.err != nil {
		return fmt.Errorf("read Go build information: %w", v.err)
	}
	return nil
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

func newView(f *File) (*view, error) {
	v := &view{s: f.r, at: f.at + 4}
	table := f.sectionTable() - v.at
	v.head = make([]byte, table+sectionSize*int64(f.coff.NumberOfSections))
	if err := f.r.read(v.head, v.at, "headers"); err != nil {
		return nil, err
	}
	clear(v.head[8:16]) // PointerToSymbolTable, NumberOfSymbols
	for c := v.head[table:]; len(c) != 0; c = c[sectionSize:] {
		if c[0] == '/' {
			c[0] = '_' // a name in the string table, which the view doesn't have
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
