package pe

import (
	"bytes"
	"debug/pe"
	"encoding/binary"
	"fmt"
)

const (
	dosHeaderSize  = 64
	coffHeaderSize = 20
	sectionSize    = 40
	directorySize  = 8

	// maxSections is what the Windows loader takes: "Note that the Windows
	// loader limits the number of sections to 96",
	// https://learn.microsoft.com/windows/win32/debug/pe-format.
	maxSections = 96

	certificateDirectory = 4
)

type header struct {
	at   int64 // of the PE signature
	coff pe.FileHeader
	plus bool
	opt  pe.OptionalHeader64 // of PE32 too: its fields are widened
	dirs []pe.DataDirectory
}

func readHeader(s source) (*header, error) {
	at, err := findSignature(s)
	if err != nil {
		return nil, err
	}
	h := &header{at: at}
	if err := s.decode(&h.coff, at+4, "file header"); err != nil {
		return nil, err
	}
	if n := h.coff.NumberOfSections; n > maxSections {
		return nil, fmt.Errorf("%w: %d sections, Windows loads at most %d", ErrDamaged, n, maxSections)
	}
	if err := h.readOptional(s); err != nil {
		return nil, err
	}
	return h, h.checkSymbols(s)
}

// findSignature returns the offset of "PE\0\0".
func findSignature(s source) (int64, error) {
	head := make([]byte, min(s.size, dosHeaderSize))
	if err := s.read(head, 0, "first bytes"); err != nil {
		return 0, err
	}
	if !bytes.HasPrefix(head, []byte("MZ")) {
		return 0, fmt.Errorf("%w: %s", ErrNotPE, describe(head))
	}
	if len(head) < dosHeaderSize {
		return 0, fmt.Errorf("%w: the file ends within its DOS header, at byte %d", ErrDamaged, s.size)
	}
	at := int64(binary.LittleEndian.Uint32(head[60:]))
	var sign [4]byte
	if err := s.read(sign[:], at, "PE signature"); err != nil {
		return 0, err
	}
	if sign != [4]byte{'P', 'E'} {
		return 0, fmt.Errorf("%w: a DOS program, no PE signature at byte %d", ErrNotPE, at)
	}
	return at, nil
}

// describe says what a file is that isn't what it should be.
func describe(head []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"\x7fELF", "an ELF program, as for Linux"},
		{"\xcf\xfa\xed\xfe", "a Mach-O program, as for macOS"},
		{"#!", "a script"},
		{"\x1f\x8b", "gzip data"},
		{"\x28\xb5\x2f\xfd", "zstd data"},
		{"PK\x03\x04", "a zip archive"},
	} {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.name
		}
	}
	if len(head) == 0 {
		return "an empty file"
	}
	return fmt.Sprintf("it starts with % x", head[:min(4, len(head))])
}

// readOptional reads the optional header, which executables must have, in
// either of its forms.
func (h *header) readOptional(s source) error {
	at := h.at + 4 + coffHeaderSize
	var magic uint16
	if err := s.decode(&magic, at, "optional header"); err != nil {
		return err
	}
	var fixed int64
	switch magic {
	case 0x20b:
		h.plus, fixed = true, 112
	case 0x10b:
		fixed = 96
	default:
		return fmt.Errorf("%w: optional header of unknown kind %#x", ErrDamaged, magic)
	}
	room := int64(h.coff.SizeOfOptionalHeader) - fixed
	if room < 0 {
		return fmt.Errorf("%w: optional header of %d bytes, it takes at least %d", ErrDamaged, h.coff.SizeOfOptionalHeader, fixed)
	}
	if err := h.decodeOptional(s, at, fixed); err != nil {
		return err
	}
	// The loader looks at no more than 16 directories, whatever the count is.
	n := min(int64(h.opt.NumberOfRvaAndSizes), room/directorySize, 16)
	h.dirs = make([]pe.DataDirectory, n)
	return s.decode(h.dirs, at+fixed, "data directories")
}

// decodeOptional reads the fixed part and widens PE32 to PE32+.
func (h *header) decodeOptional(s source, at, fixed int64) error {
	var raw [240]byte // the larger form with its 16 directories
	if err := s.read(raw[:fixed], at, "optional header"); err != nil {
		return err
	}
	if h.plus {
		_, err := binary.Decode(raw[:], binary.LittleEndian, &h.opt)
		return err
	}
	var o pe.OptionalHeader32
	if _, err := binary.Decode(raw[:], binary.LittleEndian, &o); err != nil {
		return err
	}
	h.opt = pe.OptionalHeader64{
		ImageBase: uint64(o.ImageBase), FileAlignment: o.FileAlignment, SizeOfHeaders: o.SizeOfHeaders,
		CheckSum: o.CheckSum, Subsystem: o.Subsystem, DllCharacteristics: o.DllCharacteristics,
		NumberOfRvaAndSizes: o.NumberOfRvaAndSizes,
	}
	return nil
}

// checkSymbols makes sure that the symbol table lies within the file, so that
// later code may trust the count.
func (h *header) checkSymbols(s source) error {
	off, n := int64(h.coff.PointerToSymbolTable), int64(h.coff.NumberOfSymbols)
	if off == 0 || s.has(off, n*pe.COFFSymbolSize) {
		return nil
	}
	return fmt.Errorf("%w: symbol table of %d symbols at byte %d, the file ends at %d", ErrDamaged, n, off, s.size)
}

// sectionTable returns the offset of the first section header.
func (h *header) sectionTable() int64 {
	return h.at + 4 + coffHeaderSize + int64(h.coff.SizeOfOptionalHeader)
}

func (h *header) fill(f *File) {
	f.coff = h.coff
	f.PE32Plus = h.plus
	f.Machine = h.coff.Machine
	f.TimeDateStamp = h.coff.TimeDateStamp
	f.Subsystem = h.opt.Subsystem
	f.DllCharacteristics = h.opt.DllCharacteristics
	f.CheckSum = h.opt.CheckSum
	f.ImageBase = h.opt.ImageBase
	f.Symbols = h.coff.PointerToSymbolTable != 0 && h.coff.NumberOfSymbols != 0
	_, size := h.certificates()
	f.Signed = size != 0
}

// certificates returns where the certificate table is; size 0 when there is
// none. Unlike the other directories its address is a file offset.
func (h *header) certificates() (off, size int64) {
	if len(h.dirs) <= certificateDirectory {
		return 0, 0
	}
	d := h.dirs[certificateDirectory]
	return int64(d.VirtualAddress), int64(d.Size)
}
