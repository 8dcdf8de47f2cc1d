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

func (f *File) readHeader() (err error) {
	if f.at, err = findSignature(f.r); err != nil {
		return err
	}
	if err := f.r.decode(&f.coff, f.at+4, "file header"); err != nil {
		return err
	}
	if n := f.coff.NumberOfSections; n > maxSections {
		return fmt.Errorf("%w: %d sections, Windows loads at most %d", ErrDamaged, n, maxSections)
	}
	off, n := int64(f.coff.PointerToSymbolTable), int64(f.coff.NumberOfSymbols)
	if off != 0 && !f.r.has(off, n*pe.COFFSymbolSize) {
		return fmt.Errorf("%w: symbol table of %d symbols at byte %d, the file ends at %d", ErrDamaged, n, off, f.r.size)
	}
	f.Machine, f.TimeDateStamp, f.Symbols = f.coff.Machine, f.coff.TimeDateStamp, off != 0 && n != 0
	return f.readOptional()
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

// readOptional reads the optional header, which executables must have. Its two
// forms differ in what is wide: ImageBase, and four sizes that nobody needs here.
func (f *File) readOptional() error {
	at := f.at + 4 + coffHeaderSize
	var magic uint16
	if err := f.r.decode(&magic, at, "optional header"); err != nil {
		return err
	}
	var fixed int64
	switch magic {
	case 0x20b:
		f.PE32Plus, fixed = true, 112
	case 0x10b:
		fixed = 96
	default:
		return fmt.Errorf("%w: optional header of unknown kind %#x", ErrDamaged, magic)
	}
	room := int64(f.coff.SizeOfOptionalHeader) - fixed
	if room < 0 {
		return fmt.Errorf("%w: optional header of %d bytes, it takes at least %d", ErrDamaged, f.coff.SizeOfOptionalHeader, fixed)
	}
	raw := make([]byte, fixed)
	if err := f.r.read(raw, at, "optional header"); err != nil {
		return err
	}
	le := binary.LittleEndian
	f.ImageBase = uint64(le.Uint32(raw[28:]))
	if f.PE32Plus {
		f.ImageBase = le.Uint64(raw[24:])
	}
	f.headersSize, f.CheckSum = le.Uint32(raw[60:]), le.Uint32(raw[64:])
	f.Subsystem, f.DllCharacteristics = le.Uint16(raw[68:]), le.Uint16(raw[70:])
	// The count of directories ends the fixed part.
	if min(int64(le.Uint32(raw[fixed-4:])), room/directorySize) <= certificateDirectory {
		return nil
	}
	err := f.r.decode(&f.certificates, at+fixed+certificateDirectory*directorySize, "data directories")
	f.Signed = f.certificates.Size != 0
	return err
}

// sectionTable returns the offset of the first section header.
func (f *File) sectionTable() int64 {
	return f.at + 4 + coffHeaderSize + int64(f.coff.SizeOfOptionalHeader)
}
