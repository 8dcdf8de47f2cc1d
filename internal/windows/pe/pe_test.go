package pe_test

import (
	"bytes"
	"errors"
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
	}{
		{"console program", stamped, true, 0x8664, 3},
		{"with debug information", debug, true, 0x8664, 3},
		{"stripped", stripped, true, 0x8664, 3},
		{"gui", gui, true, 0x8664, 2},
		{"386", i386, false, 0x14c, 3},
		{"arm64", arm64, true, 0xaa64, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := read(t, build(t, tt.target))
			if f.PE32Plus != tt.plus || f.Machine != tt.machine || f.Subsystem != tt.subsystem {
				t.Errorf("PE32+ %v machine %#x subsystem %d, want %v %#x %d", f.PE32Plus, f.Machine, f.Subsystem, tt.plus, tt.machine, tt.subsystem)
			}
			if tt.plus && f.DllCharacteristics != goFlags {
				t.Errorf("DllCharacteristics = %#x, want %#x", f.DllCharacteristics, goFlags)
			}
			if f.Overlay != 0 || f.TimeDateStamp != 0 {
				t.Errorf("overlay %d time %d, want none", f.Overlay, f.TimeDateStamp)
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

func TestSetting(t *testing.T) {
	if got := (&pe.File{}).Setting("GOOS"); got != "" {
		t.Errorf("Setting() of a foreign program = %q", got)
	}
}

func TestReadNotPE(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", `it starts with ""`, nil},
		{"linux", `it starts with "\x7fELF"`, build(t, linux)},
		{"script", `it starts with "#!/b"`, []byte("#!/bin/sh\n")},
		{"other", `it starts with "\x01\x02\x03\x04"`, []byte{1, 2, 3, 4, 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pe.Read(bytes.NewReader(tt.data), int64(len(tt.data)))
			if !errors.Is(err, pe.ErrNotPE) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want ErrNotPE with %q", err, tt.want)
			}
		})
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
