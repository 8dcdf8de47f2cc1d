package pe_test

import (
	"bytes"
	stdpe "debug/pe"
	"errors"
	"testing"

	"github.com/winbake/winbake/internal/windows/pe"
)

// FuzzRead is quick with -fuzzminimizetime=10x: otherwise Go spends a minute on
// making each interesting file smaller.
func FuzzRead(f *testing.F) {
	for _, change := range []func(*synth){
		func(*synth) {},
		func(s *synth) { s.tail = []byte("overlay") },
		func(s *synth) { s.opt.DataDirectory[4] = stdpe.DataDirectory{VirtualAddress: 0x600, Size: 8} },
		func(s *synth) { s.coff.PointerToSymbolTable = 0 },
		func(s *synth) { s.opt.Magic = 0x10b },
	} {
		s := newSynth()
		change(s)
		f.Add(s.bytes(f))
	}
	f.Add([]byte("MZ"))
	withInfo := newSynth().bytes(f)
	// The header of Go's build information, at the start of .data: inline
	// strings, a version, no modules.
	copy(withInfo[0x400:], "\xff Go buildinf:\x08\x02")
	copy(withInfo[0x420:], "\x08go1.26.8\x00")
	f.Add(withInfo)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := pe.Read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			if !errors.Is(err, pe.ErrNotPE) && !errors.Is(err, pe.ErrDamaged) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		if file.Overlay < 0 || file.Overlay > int64(len(data)) {
			t.Errorf("overlay of %d bytes in a file of %d", file.Overlay, len(data))
		}
		if (file.Build == nil) == (file.BuildErr == nil) {
			t.Errorf("Build %v with error %v", file.Build, file.BuildErr)
		}
		for name, v := range file.StringVars("main.version", "lib", "a.b/c.d") {
			if v.Err != nil && v.Value != "" {
				t.Errorf("%s: %q with %v", name, v.Value, v.Err)
			}
		}
	})
}
