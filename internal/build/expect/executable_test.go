package expect

import (
	"errors"
	"testing"

	"github.com/winbake/winbake/internal/windows/pe"
)

func TestExecutable(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*pe.File)
		ids    []string
		texts  []string
	}{
		{"sound", func(*pe.File) {}, []string{"PASS binary.pe"}, []string{"go1.26.8"}},
		{"386", func(f *pe.File) { f.PE32Plus, f.Machine = false, 0x14c }, []string{"BLOCK binary.pe.arch"}, []string{"PE32 386", "PE32+ amd64", "GOARCH=amd64"}},
		{"arm64", func(f *pe.File) { f.Machine = 0xaa64 }, []string{"BLOCK binary.pe.arch"}, []string{"PE32+ arm64"}},
		{"arm", func(f *pe.File) { f.Machine = 0x1c4 }, []string{"BLOCK binary.pe.arch"}, []string{"PE32+ arm"}},
		{"alpha", func(f *pe.File) { f.Machine = 0x184 }, []string{"BLOCK binary.pe.arch"}, []string{"machine 0x0184"}},
		{"32-bit form for amd64", func(f *pe.File) { f.PE32Plus = false }, []string{"BLOCK binary.pe.arch"}, []string{"PE32 amd64"}},
		{"gui", func(f *pe.File) { f.Subsystem = 2 }, []string{"BLOCK binary.pe.subsystem"}, []string{"a GUI program (2)", "windowsgui"}},
		{"driver", func(f *pe.File) { f.Subsystem = 1 }, []string{"BLOCK binary.pe.subsystem"}, []string{"subsystem 1"}},
		{"no flags", func(f *pe.File) { f.DllCharacteristics = 0x8000 }, []string{"BLOCK binary.pe.flags"}, []string{"without HIGH_ENTROPY_VA, DYNAMIC_BASE, NX_COMPAT"}},
		{"one flag missing", func(f *pe.File) { f.DllCharacteristics = 0x8140 }, []string{"BLOCK binary.pe.flags"}, []string{"without HIGH_ENTROPY_VA\n"}},
		{"without TERMINAL_SERVER_AWARE", func(f *pe.File) { f.DllCharacteristics = 0x160 }, []string{"PASS binary.pe"}, nil},
		{"overlay", func(f *pe.File) { f.Overlay = 17 }, []string{"BLOCK binary.pe.overlay"}, []string{"17 bytes"}},
		{"timestamp", func(f *pe.File) { f.TimeDateStamp = 1700000000 }, []string{"INFO binary.pe.timestamp", "PASS binary.pe"}, []string{"2023-11-14T22:13:20Z"}},
		{"foreign", func(f *pe.File) { f.Build, f.BuildErr = nil, errors.New("not a Go executable") }, []string{"UNKNOWN binary.go.missing"}, []string{"not a Go executable"}},
		{"everything wrong", func(f *pe.File) { *f = pe.File{Machine: 0x14c, Overlay: 1, TimeDateStamp: 1} },
			[]string{"BLOCK binary.pe.arch", "BLOCK binary.pe.subsystem", "BLOCK binary.pe.flags", "BLOCK binary.pe.overlay", "INFO binary.pe.timestamp", "UNKNOWN binary.go.missing"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := executable()
			tt.change(f)
			fs := Executable(object, f)
			expectIDs(t, fs, tt.ids...)
			expectText(t, fs[0], tt.texts...)
		})
	}
}
