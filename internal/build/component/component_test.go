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
	if len(kinds) != 4 {
		t.Errorf("%d kinds", len(kinds))
	}
}
