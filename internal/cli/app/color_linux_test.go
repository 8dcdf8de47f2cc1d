package app

import (
	"bytes"
	"testing"

	"github.com/winbake/winbake/test/terminal"
)

func TestColor(t *testing.T) {
	tty := terminal.Open(t, 80, 24)
	for _, tt := range []struct {
		noColor, term string
		want          bool
	}{
		{"", "xterm", true},
		{"", "", true},
		{"1", "xterm", false},
		{"", "dumb", false},
	} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("TERM", tt.term)
		if got := Color(&result{app: &App{}, w: tty}); got != tt.want {
			t.Errorf("NO_COLOR=%q TERM=%q: %v", tt.noColor, tt.term, got)
		}
		if Color(&bytes.Buffer{}) {
			t.Error("colours in a buffer")
		}
	}
}
