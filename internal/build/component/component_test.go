package component

import (
	"testing"

	"github.com/winbake/winbake/internal/build/pins"
)

// What versions.yaml may have can be locked and built.
func TestEveryKindOfPins(t *testing.T) {
	for _, c := range []pins.Component{
		{Module: "example.com/x"}, {Git: "https://example.com/x"}, {Git: "https://example.com/x", Path: "a"}, {File: "a"},
	} {
		_, program := Of(&c).(Program)
		_, file := Of(&c).(File)
		if program != c.Program() || file == program {
			t.Errorf("%s: it is a program (%t) and a file (%t)", c.Kind(), program, file)
		}
	}
	if got, want := len(kinds), len(pins.Kinds()); got != want {
		t.Errorf("%d kinds, package pins has %d", got, want)
	}
	for _, k := range pins.Kinds() {
		if kinds[k] == nil {
			t.Errorf("%s has no package here", k)
		}
	}
}
