package pe_test

import (
	"bytes"
	stdpe "debug/pe"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/windows/pe"
)

func TestSynthIsFine(t *testing.T) {
	f := read(t, newSynth().bytes(t))
	if v, err := stringVar(f, "main.version"); v != "v1.2.3" || err != nil {
		t.Errorf("main.version = %q, %v", v, err)
	}
	if f.Overlay != 0 {
		t.Errorf("overlay %d", f.Overlay)
	}
	if f.Build != nil || f.BuildErr == nil {
		t.Errorf("Build = %v, %v; want an error", f.Build, f.BuildErr)
	}
}

func TestReadDamaged(t *testing.T) {
	for name, change := range map[string]func(*synth){
		"65535 sections":                        func(s *synth) { s.coff.NumberOfSections = 65535 },
		"short optional header":                 func(s *synth) { s.coff.SizeOfOptionalHeader = 111 },
		"long optional header":                  func(s *synth) { s.coff.SizeOfOptionalHeader = 65535 },
		"unknown magic":                         func(s *synth) { s.opt.Magic = 0x107 },
		"four billion symbols":                  func(s *synth) { s.coff.NumberOfSymbols = math.MaxUint32 },
		"symbols far away":                      func(s *synth) { s.coff.PointerToSymbolTable = math.MaxUint32 },
		"one symbol too many":                   func(s *synth) { s.coff.NumberOfSymbols = 3 },
		"huge string table":                     func(s *synth) { s.length = math.MaxUint32 },
		"string table too long by one":          func(s *synth) { s.length++ },
		"section beyond the end":                func(s *synth) { s.sections[0].PointerToRawData = math.MaxUint32 },
		"huge section":                          func(s *synth) { s.sections[0].SizeOfRawData = math.MaxUint32 },
		"four billion directories":              func(s *synth) { s.opt.NumberOfRvaAndSizes = math.MaxUint32 },
		"unknown machine":                       func(s *synth) { s.coff.Machine = 0x1234 },
		"more auxiliary records than there are": func(s *synth) { s.symbols[0].NumberOfAuxSymbols = 255 },
		"certificates beyond the end": func(s *synth) {
			s.opt.DataDirectory[4] = stdpe.DataDirectory{VirtualAddress: 0x600, Size: math.MaxUint32}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSynth()
			change(s)
			exe := s.bytes(t)
			if _, err := pe.Read(bytes.NewReader(exe), int64(len(exe))); !errors.Is(err, pe.ErrDamaged) {
				t.Errorf("error %v, want ErrDamaged", err)
			}
		})
	}
}

func TestReadTolerates(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*synth)
	}{
		{"no symbols", func(s *synth) {
			s.coff.PointerToSymbolTable, s.coff.NumberOfSymbols = 0, 0
			s.sections[1].Name = [8]byte{'.', 'b', 's', 's'}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSynth()
			tt.change(s)
			read(t, s.bytes(t))
		})
	}
}

func TestStringVarDamaged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*synth)
		patch  func(exe []byte)
		want   string
	}{
		{"section 0", func(s *synth) { s.symbols[0].SectionNumber = 0 }, nil, "section 0 of 2"},
		{"absolute", func(s *synth) { s.symbols[0].SectionNumber = -1 }, nil, "section -1 of 2"},
		{"section 3 of 2", func(s *synth) { s.symbols[0].SectionNumber = 3 }, nil, "section 3 of 2"},
		{"beyond its section", func(s *synth) { s.symbols[0].Value = math.MaxUint32 }, nil, `outside of section ".data"`},
		{"across its section's end", func(s *synth) { s.symbols[0].Value = 0x3f8 }, nil, `outside of section ".data"`},
		{"pointer to nowhere", nil, func(e []byte) { clear(e[0x410:0x418]) }, "in no section"},
		{"text across the section's end", nil, func(e []byte) { e[0x419] = 0x10 }, "in no section"},
		{"endless length", nil, func(e []byte) { copy(e[0x418:], bytes.Repeat([]byte{0xff}, 8)) }, "18446744073709551615 bytes is in no section"},
		{"is there twice", func(s *synth) {
			other := s.symbols[0]
			other.Value = 0x30
			s.symbols = append(s.symbols, other)
			s.coff.NumberOfSymbols = 2
		}, nil, "is there 2 times"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSynth()
			if tt.change != nil {
				tt.change(s)
			}
			exe := s.bytes(t)
			if tt.patch != nil {
				tt.patch(exe)
			}
			v, err := stringVar(read(t, exe), "main.version")
			if !errors.Is(err, pe.ErrDamaged) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%q, error %v, want ErrDamaged with %q", v, err, tt.want)
			}
		})
	}
}

func TestStringVarInMemoryOnly(t *testing.T) {
	for name, change := range map[string]func(*synth){
		"beyond the raw data": func(s *synth) { s.symbols[0].Value = 0x300 },
		"in a .bss":           func(s *synth) { s.symbols[0].SectionNumber = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSynth()
			change(s)
			if v, err := stringVar(read(t, s.bytes(t)), "main.version"); v != "" || err != nil {
				t.Errorf("%q, %v; want an empty string", v, err)
			}
		})
	}
}

func TestSymbolTableOddities(t *testing.T) {
	t.Run("auxiliary records are skipped", func(t *testing.T) {
		s := newSynth()
		wrong := s.symbols[0]
		wrong.Value = 0x30
		file := stdpe.COFFSymbol{Name: [8]uint8{'.', 'f', 'i', 'l', 'e'}, NumberOfAuxSymbols: 1}
		s.symbols = []stdpe.COFFSymbol{file, wrong, s.symbols[0]}
		s.coff.NumberOfSymbols = 3
		if v, err := stringVar(read(t, s.bytes(t)), "main.version"); v != "v1.2.3" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	})
	t.Run("name longer than the buffer before ours", func(t *testing.T) {
		s := newSynth()
		s.strings = slices.Concat(bytes.Repeat([]byte{'x'}, 1<<20), []byte("\x00main.version\x00"))
		s.length = uint32(4 + len(s.strings))
		binary.LittleEndian.PutUint32(s.symbols[0].Name[4:], 4+1<<20+1)
		if v, err := stringVar(read(t, s.bytes(t)), "main.version"); v != "v1.2.3" || err != nil {
			t.Errorf("%q, %v", v, err)
		}
	})
}

// TestTruncated cuts a real program at every byte of its headers and around
// every boundary behind them: Windows wouldn't start it, Read says why.
func TestTruncated(t *testing.T) {
	exe := build(t, stamped)
	cuts := []int64{}
	for i := range int64(0x600) {
		cuts = append(cuts, i)
	}
	file, err := stdpe.NewFile(bytes.NewReader(exe))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Sections {
		start, end := int64(c.Offset), int64(c.Offset)+int64(c.Size)
		cuts = append(cuts, start-1, start, start+1, (start+end)/2, end-1)
	}
	for _, n := range cuts {
		_, err := pe.Read(bytes.NewReader(exe[:n]), n)
		if !errors.Is(err, pe.ErrDamaged) && !errors.Is(err, pe.ErrNotPE) {
			t.Errorf("cut to %d of %d bytes: error %v", n, len(exe), err)
		}
		if n >= 2 && errors.Is(err, pe.ErrNotPE) {
			t.Errorf("cut to %d bytes: still a Windows executable, but %v", n, err)
		}
	}
}

// TestFlippedBytes changes each byte of a real program's headers in three ways.
// Whatever comes out, it must come out.
func TestFlippedBytes(t *testing.T) {
	exe := build(t, stripped)
	var failed, fine int
	for i := range 0x600 {
		for _, x := range []byte{0x01, 0x80, 0xff} {
			exe[i] ^= x
			f, err := pe.Read(bytes.NewReader(exe), int64(len(exe)))
			exe[i] ^= x
			if err != nil {
				failed++
				continue
			}
			fine++
			if f.Overlay < 0 || f.Overlay > int64(len(exe)) {
				t.Fatalf("byte %d ^ %#x: overlay %d", i, x, f.Overlay)
			}
		}
	}
	if failed == 0 || fine == 0 {
		t.Errorf("%d failed, %d passed: the flips didn't reach the headers", failed, fine)
	}
}
