// Package pe tells what a Windows executable says of itself: its header, the
// flags that the loader obeys, what is appended to it, the Go build
// information, and the values of string variables that the linker stamped.
//
// The file is untrusted: one that contradicts itself is an error and never a
// panic. Package expect judges. Nothing here tells whose an Authenticode signature is.
package pe

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/pe"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
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
// came from, for StringVars.
type File struct {
	PE32Plus           bool   // 64-bit form of the optional header
	Machine            uint16 // IMAGE_FILE_MACHINE_*, 0x8664 for amd64
	Subsystem          uint16 // IMAGE_SUBSYSTEM_*, 3 for console
	DllCharacteristics uint16 // IMAGE_DLLCHARACTERISTICS_*
	TimeDateStamp      uint32 // Unix seconds, 0 from Go's linker
	// Overlay counts the bytes that belong to nothing: neither to the headers,
	// nor to a section, the symbol and string table, or the certificate table.
	Overlay int64
	// Build is the Go build information; nil when this isn't a Go program, and
	// BuildErr says why.
	Build    *debug.BuildInfo
	BuildErr error

	file *pe.File
	base uint64 // preferred load address

	content   io.ReaderAt
	signature int64            // where "PE" stands
	signed    pe.DataDirectory // of the certificates
	end       int64            // of all other parts
}

// Setting returns a build setting such as GOARCH or -trimpath; "" when it is
// absent or this isn't a Go program.
func (f *File) Setting(key string) string {
	if f.Build != nil {
		for _, s := range f.Build.Settings {
			if s.Key == key {
				return s.Value
			}
		}
	}
	return ""
}

// Read reads the executable in the first size bytes of r. The error wraps ErrNotPE
// or ErrDamaged. debug/pe "is not designed to be hardened against adversarial
// inputs": a panic in it is damage.
func Read(r io.ReaderAt, size int64) (f *File, err error) {
	defer func() {
		if p := recover(); p != nil {
			f, err = nil, fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	s := io.NewSectionReader(r, 0, size)
	var head [64]byte
	n, _ := s.ReadAt(head[:], 0)
	if !bytes.HasPrefix(head[:n], []byte("MZ")) {
		return nil, fmt.Errorf("%w: it starts with %q", ErrNotPE, head[:min(4, n)])
	}
	f = &File{content: r, signature: int64(binary.LittleEndian.Uint32(head[60:]))}
	if f.file, err = pe.NewFile(s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	f.Machine, f.TimeDateStamp = f.file.Machine, f.file.TimeDateStamp
	var headers uint32
	f.signed, headers = f.readOptional()
	if err := f.findOverlay(size, headers); err != nil {
		return nil, err
	}
	if f.Build, err = buildinfo.Read(s); err != nil {
		f.Build, f.BuildErr = nil, fmt.Errorf("read Go build information: %w", err)
	}
	return f, nil
}

const certificateDirectory = 4 // https://learn.microsoft.com/windows/win32/debug/pe-format

// readOptional reads the optional header. A certificate table's address is an
// offset in the file.
func (f *File) readOptional() (certificates pe.DataDirectory, headers uint32) {
	switch h := f.file.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		f.PE32Plus, f.base, f.Subsystem, f.DllCharacteristics = true, h.ImageBase, h.Subsystem, h.DllCharacteristics
		return h.DataDirectory[certificateDirectory], h.SizeOfHeaders
	case *pe.OptionalHeader32:
		f.base, f.Subsystem, f.DllCharacteristics = uint64(h.ImageBase), h.Subsystem, h.DllCharacteristics
		return h.DataDirectory[certificateDirectory], h.SizeOfHeaders
	}
	return pe.DataDirectory{}, 0
}

// span is the bytes [from, to) of the file.
type span struct{ from, to int64 }

// findOverlay counts the bytes that no part of the executable claims. The size of
// the headers is believed only as far as the first section, or it could be used to
// hide what is appended.
func (f *File) findOverlay(size int64, headers uint32) error {
	first := size
	var spans []span
	for _, c := range f.file.Sections {
		if c.Offset != 0 && c.Size != 0 {
			spans = append(spans, span{int64(c.Offset), int64(c.Offset) + int64(c.Size)})
			first = min(first, int64(c.Offset))
		}
	}
	table := f.signature + 24 + int64(f.file.SizeOfOptionalHeader) + 40*int64(len(f.file.Sections))
	spans = append(spans, span{0, max(table, min(int64(headers), first))})
	if at := int64(f.file.PointerToSymbolTable); at != 0 {
		spans = append(spans, span{at, at + int64(f.file.NumberOfSymbols)*pe.COFFSymbolSize + 4 + int64(len(f.file.StringTable))})
	}
	for _, s := range spans {
		f.end = max(f.end, s.to)
	}
	if n := int64(f.signed.Size); n != 0 { // a signing tool aligns it to 8 bytes
		spans = append(spans, span{int64(f.signed.VirtualAddress) - 7, int64(f.signed.VirtualAddress) + n})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	f.Overlay = size
	end := int64(0)
	for _, s := range spans {
		if s.to > size {
			return fmt.Errorf("%w: a part of it is at %d to %d, the file ends at %d", ErrDamaged, s.from, s.to, size)
		}
		if s.to > end {
			f.Overlay -= s.to - max(s.from, end)
			end = s.to
		}
	}
	return nil
}

// Unsigned is the sha256, in hex, of the executable without its Authenticode signature:
// as its linker wrote it, with no certificate table and no checksum; "" for one that
// isn't signed. What is signed leaves out the same (the PE format's page, "Certificate
// Data").
func (f *File) Unsigned() (string, error) {
	if f.signed.Size == 0 {
		return "", nil
	}
	optional, directories := f.signature+24, int64(112)
	if !f.PE32Plus {
		directories = 96
	}
	h := sha256.New()
	at := int64(0)
	for _, field := range []span{{optional + 64, optional + 68}, {optional + directories + 8*certificateDirectory, optional + directories + 8*certificateDirectory + 8}} {
		if _, err := io.Copy(h, io.NewSectionReader(f.content, at, field.from-at)); err != nil {
			return "", err
		}
		h.Write(make([]byte, field.to-field.from))
		at = field.to
	}
	_, err := io.Copy(h, io.NewSectionReader(f.content, at, f.end-at))
	return hex.EncodeToString(h.Sum(nil)), err
}
