package pe_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/windows/pe"
)

func TestStringVar(t *testing.T) {
	for _, tt := range []struct {
		name     string
		target   target
		variable string
		want     string
		err      error
		text     string
	}{
		{"stamped", stamped, "main.version", "v1.2.3", nil, ""},
		{"name of eight bytes", stamped, "main.ver", "short", nil, ""},
		{"dotted package", stamped, "example.test/prog/lib.v2.Version", "dotted", nil, ""},
		{"initialised", stamped, "main.preset", "dev", nil, ""},
		{"never set", stamped, "main.never", "", nil, ""},
		{"lost its stamp", plain, "main.version", "", nil, ""},
		{"misspelt stamp", misspelt, "main.version", "", nil, ""},
		{"misspelt name", misspelt, "main.vresion", "", pe.ErrNoSymbol, "main.vresion"},
		{"386", i386, "main.version", "v1.2.3", nil, ""},
		{"arm64", arm64, "main.version", "v1.2.3", nil, ""},
		{"with debug information", debug, "main.version", "v1.2.3", nil, ""},
		{"stripped", stripped, "main.version", "", pe.ErrNoSymbols, "main.version"},
		{"a function", stamped, "main.main", "", pe.ErrNoSymbol, "code"},
		{"no dot", stamped, "version", "", pe.ErrNoSymbol, "version"},
		{"empty name", stamped, "", "", pe.ErrNoSymbol, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := stringVar(read(t, build(t, tt.target)), tt.variable)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Fatalf("StringVar(%q) = %q, %v; want %q, %v", tt.variable, got, err, tt.want, tt.err)
			}
			if err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("error %q doesn't say %q", err, tt.text)
			}
		})
	}
}

func TestStringVars(t *testing.T) {
	f := read(t, build(t, stamped))
	got := f.StringVars("main.version", "main.never", "main.nowhere")
	if len(got) != 3 {
		t.Fatalf("%d answers to 3 names", len(got))
	}
	if v := got["main.version"]; v.Value != "v1.2.3" || v.Err != nil {
		t.Errorf("main.version = %+v", v)
	}
	if v := got["main.never"]; v.Value != "" || v.Err != nil {
		t.Errorf("main.never = %+v", v)
	}
	if v := got["main.nowhere"]; !errors.Is(v.Err, pe.ErrNoSymbol) {
		t.Errorf("main.nowhere = %+v", v)
	}
}
