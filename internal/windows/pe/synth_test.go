package pe_test

import (
	"bytes"
	stdpe "debug/pe"
	"encoding/binary"
	"testing"
)

// synth is a small executable made by hand: two sections, one of them in
// memory only, a symbol table with one string variable, and a string table.
// Tests change a field and see what happens.
type synth struct {
	coff     stdpe.FileHeader
	opt      stdpe.OptionalHeader64
	sections []stdpe.SectionHeader32
	symbols  []stdpe.COFFSymbol
	strings  []byte
	length   uint32 // of the string table, as it says itself
	tail     []byte
}

const (
	synthBase    = 0x140000000
	synthSymbols = 0x600
)

func newSynth() *synth {
	s := &synth{}
	s.coff = stdpe.FileHeader{
		Machine: stdpe.IMAGE_FILE_MACHINE_AMD64, NumberOfSections: 2, SizeOfOptionalHeader: 240,
		PointerToSymbolTable: synthSymbols, NumberOfSymbols: 1,
	}
	s.opt = stdpe.OptionalHeader64{
		Magic: 0x20b, ImageBase: synthBase, SizeOfHeaders: 0x400, Subsystem: 3,
		DllCharacteristics: 0x8160, NumberOfRvaAndSizes: 16,
	}
	const data = stdpe.IMAGE_SCN_CNT_INITIALIZED_DATA | stdpe.IMAGE_SCN_MEM_READ | stdpe.IMAGE_SCN_MEM_WRITE
	s.sections = []stdpe.SectionHeader32{
		{Name: [8]byte{'.', 'd', 'a', 't', 'a'}, VirtualAddress: 0x1000, VirtualSize: 0x400, PointerToRawData: 0x400, SizeOfRawData: 0x200, Characteristics: data},
		{Name: [8]byte{'/', '4'}, VirtualAddress: 0x2000, VirtualSize: 0x100, Characteristics: data},
	}
	s.symbols = []stdpe.COFFSymbol{{Name: [8]uint8{0, 0, 0, 0, 16}, Value: 0x10, SectionNumber: 1}}
	s.strings = []byte(".longername\x00main.version\x00")
	s.length = uint32(4 + len(s.strings))
	return s
}

// bytes lays the file out: headers, .data at 0x400 with the string's header at
// 0x410 and its text at 0x420, symbols at 0x600.
func (s *synth) bytes(tb testing.TB) []byte {
	tb.Helper()
	file := make([]byte, synthSymbols)
	copy(file, "MZ")
	file[60] = 64
	var head bytes.Buffer
	head.WriteString("PE\x00\x00")
	put(tb, &head, &s.coff, &s.opt, s.sections)
	copy(file[64:], head.Bytes())
	binary.LittleEndian.PutUint64(file[0x410:], synthBase+0x1020)
	binary.LittleEndian.PutUint64(file[0x418:], 6)
	copy(file[0x420:], "v1.2.3")
	rest := bytes.NewBuffer(file)
	put(tb, rest, s.symbols, s.length, s.strings, s.tail)
	return rest.Bytes()
}

func put(tb testing.TB, b *bytes.Buffer, values ...any) {
	tb.Helper()
	for _, v := range values {
		if err := binary.Write(b, binary.LittleEndian, v); err != nil {
			tb.Fatal(err)
		}
	}
}
