package pe_test

import (
	stdpe "debug/pe"
	"encoding/binary"
	"slices"
	"testing"
)

func TestOverlay(t *testing.T) {
	tail := make([]byte, 1000)
	for _, tt := range []struct {
		name   string
		change func(*synth)
		want   int64
	}{
		{"none", func(*synth) {}, 0},
		{"appended", func(s *synth) { s.tail = tail }, 1000},
		{"appended and claimed as headers", func(s *synth) { s.tail, s.opt.SizeOfHeaders = tail, 0x600+1000 }, 1000},
		{"claimed as certificates", func(s *synth) {
			s.tail = tail
			s.opt.DataDirectory[4] = stdpe.DataDirectory{VirtualAddress: 0x630, Size: 999}
		}, 0},
		{"behind the certificates", func(s *synth) {
			s.tail = tail
			s.opt.DataDirectory[4] = stdpe.DataDirectory{VirtualAddress: 0x630, Size: 16}
		}, 1000 + synthSymbols + 18 + 29 - 0x640},
		{"between the sections", func(s *synth) { s.sections[0].PointerToRawData, s.sections[0].SizeOfRawData = 0x500, 0x100 }, 0x100},
		{"sections that overlap", func(s *synth) {
			s.sections[1].PointerToRawData, s.sections[1].SizeOfRawData = 0x480, 0x100
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSynth()
			tt.change(s)
			f := read(t, s.bytes(t))
			if f.Overlay != tt.want {
				t.Errorf("overlay %d, want %d", f.Overlay, tt.want)
			}
		})
	}
}

func TestOverlayOfRealProgram(t *testing.T) {
	for name, target := range map[string]target{"with symbols": stamped, "stripped": stripped, "debug": debug} {
		t.Run(name, func(t *testing.T) {
			exe := append(build(t, target), "PK\x03\x04 a stowaway"...)
			if f := read(t, exe); f.Overlay != 15 || f.Build == nil {
				t.Errorf("overlay %d, build %v; want 15 bytes behind a Go program", f.Overlay, f.Build)
			}
		})
	}
	t.Run("between headers and sections", func(t *testing.T) {
		exe := insert(build(t, stripped), 512)
		if f := read(t, exe); f.Overlay != 512 || f.Build == nil {
			t.Errorf("overlay %d, build %v; want 512 bytes in a Go program", f.Overlay, f.Build)
		}
	})
}

// insert puts n bytes before the first section and moves everything that is
// behind them, as one would who hides something in a program that must run.
func insert(exe []byte, n uint32) []byte {
	le := binary.LittleEndian
	move := func(at uint32) { le.PutUint32(exe[at:], le.Uint32(exe[at:])+n) }
	coff := le.Uint32(exe[60:]) + 4
	move(coff + 8)
	table := coff + 20 + uint32(le.Uint16(exe[coff+16:]))
	first := le.Uint32(exe[table+20:])
	for i := range uint32(le.Uint16(exe[coff+2:])) {
		move(table + i*40 + 20)
	}
	return slices.Insert(exe, int(first), make([]byte, n)...)
}
