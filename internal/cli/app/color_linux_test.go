package app

import (
	"bytes"
	"testing"

	"github.com/winbake/winbake/test/support/terminal"
)

func TestColor(t *testing.T) {
	tty := terminal.Open(t, 80, 24)
	for _, tt := range []struct {
		noColor, term, flag string
		want                bool
	}{
		{"", "xterm", "auto", true},
		{"", "", "auto", true},
		{"1", "xterm", "auto", false},
		{"1", "dumb", "always", true},
		{"", "xterm", "never", false},
		{"", "dumb", "auto", false},
	} {
		t.Setenv("NO_COLOR", tt.noColor)
		t.Setenv("TERM", tt.term)
		a := &App{color: tt.flag}
		a.Stdout = &result{app: a, w: tty}
		if got := a.Color(); got != tt.want {
			t.Errorf("NO_COLOR=%q TERM=%q --color=%s: %v", tt.noColor, tt.term, tt.flag, got)
		}
		a.Stdout = &bytes.Buffer{}
		if got := a.Color(); got != (tt.flag == "always") {
			t.Errorf("--color=%s: colours in a buffer: %v", tt.flag, got)
		}
	}
}
