package pe_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/windows/pe"
)

func TestReadHeader(t *testing.T) {
	const goFlags = 0x8160
	for _, tt := range []struct {
		name      string
		target    target
		plus      bool
		machine   uint16
		subsystem uint16
		symbols   bool
	}{
		{"console program", stamped, true, 0x8664, 3, true},
		{"with debug information", debug, true, 0x8664, 3, true},
		{"stripped", stripped, true, 0x8664, 3, false},
		{"gui", gui, true, 0x8664, 2, true},
		{"386", i386, false, 0x14c, 3, true},
		{"arm64", arm64, true, 0xaa64, 3, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, build(t, tt.target))
			if f.PE32Plus != tt.plus || f.Machine != tt.machine || f.Subsystem != tt.subsystem {
				t.Errorf("PE32+ %v machine %#x subsystem %d, want %v %#x %d", f.PE32Plus, f.Machine, f.Subsystem, tt.plus, tt.machine, tt.subsystem)
			}
			if f.Symbols != tt.symbols {
				t.Errorf("Symbols = %v, want %v", f.Symbols, tt.symbols)
			}
			if tt.plus && f.DllCharacteristics != goFlags {
				t.Errorf("DllCharacteristics = %#x, want %#x", f.DllCharacteristics, goFlags)
			}
			if f.Overlay != 0 || f.Signed || f.TimeDateStamp != 0 || f.CheckSum != 0 {
				t.Errorf("overlay %d signed %v time %d checksum %d, want none", f.Overlay, f.Signed, f.TimeDateStamp, f.CheckSum)
			}
			if f.Build == nil || f.Build.Path != "example.test/prog" || f.BuildErr != nil {
				t.Errorf("Build = %v, %v", f.Build, f.BuildErr)
			}
			if got := f.Setting("GOARCH"); got != tt.target.goarch {
				t.Errorf("GOARCH = %q, want %q", got, tt.target.goarch)
			}
		})
	}
}

func TestSections(t *testing.T) {
	f := read(t, build(t, debug))
	var names []string
	for _, s := range f.Sections {
		names = append(names, s.Name)
	}
	for _, want := range []string{".text", ".rdata", ".data", ".symtab"} {
		if !slices.Contains(names, want) {
			t.Errorf("no section %s in %q", want, names)
		}
	}
	if f.ImageBase == 0 {
		t.Error("ImageBase = 0")
	}
}

func TestSetting(t *testing.T) {
	if got := (&pe.File{}).Setting("GOOS"); got != "" {
		t.Errorf("Setting() of a foreign program = %q", got)
	}
}

func TestReadNotPE(t *testing.T) {
	dos := make([]byte, 128)
	copy(dos, "MZ")
	dos[60] = 64
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "an empty file", nil},
		{"linux", "an ELF program", build(t, linux)},
		{"script", "a script", []byte("#!/bin/sh\n")},
		{"gzip", "gzip data", []byte("\x1f\x8b\x08\x00")},
		{"zstd", "zstd data", []byte("\x28\xb5\x2f\xfd")},
		{"zip", "a zip archive", []byte("PK\x03\x04")},
		{"macho", "a Mach-O program", []byte("\xcf\xfa\xed\xfe")},
		{"other", "it starts with 01 02 03 04", []byte{1, 2, 3, 4, 5}},
		{"dos", "a DOS program", dos},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pe.Read(bytes.NewReader(tt.data), int64(len(tt.data)))
			if !errors.Is(err, pe.ErrNotPE) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want ErrNotPE with %q", err, tt.want)
			}
		})
	}
}

// failing fails every read from an offset on.
type failing struct {
	*bytes.Reader
	from int64
	err  error
}

func (r failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.from {
		return 0, r.err
	}
	return r.Reader.ReadAt(p, off)
}

func TestReadPassesReaderErrors(t *testing.T) {
	exe := build(t, stamped)
	broken := errors.New("connection lost")
	for from := range int64(2048) {
		_, err := pe.Read(failing{bytes.NewReader(exe), from, broken}, int64(len(exe)))
		if !errors.Is(err, broken) || errors.Is(err, pe.ErrDamaged) {
			t.Fatalf("reader that fails from byte %d: error %v", from, err)
		}
	}
	f, err := pe.Read(bytes.NewReader(exe), int64(len(exe))+1)
	if err != nil || f.Overlay != 1 {
		t.Errorf("told one byte too many: %v", err)
	}
	if _, err := pe.Read(bytes.NewReader(exe[:700]), int64(len(exe))); err == nil {
		t.Error("no error for a reader that is shorter than told")
	}
}

// BenchmarkRead reads the headers and build information, BenchmarkStringVars
// the stamps as well.
func BenchmarkRead(b *testing.B) {
	exe := build(b, stamped)
	for b.Loop() {
		read(b, exe)
	}
}

func BenchmarkStringVars(b *testing.B) {
	f := read(b, build(b, stamped))
	for b.Loop() {
		f.StringVars("main.version", "main.never", "example.test/prog/lib.v2.Version")
	}
}
