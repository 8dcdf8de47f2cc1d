package console

import (
	"testing"

	"github.com/winbake/winbake/test/support/terminal"
)

func TestOnATerminal(t *testing.T) {
	tty := terminal.Open(t, 101, 33)
	for _, tt := range []struct {
		name          string
		options       Options
		noColor, term string
		mode          string
		color         bool
	}{
		{"auto", Options{}, "", "xterm", "tty", true},
		{"NO_COLOR", Options{}, "1", "xterm", "tty", false},
		{"dumb", Options{}, "", "dumb", "plain", false},
		{"tty although dumb", Options{Progress: "tty"}, "", "dumb", "tty", false},
		{"asked for", Options{Progress: "plain", Color: "always"}, "1", "dumb", "plain", true},
		{"asked for none", Options{Color: "never"}, "", "xterm", "tty", false},
		{"quiet", Options{Quiet: true}, "", "xterm", "plain", true},
		{"JSON messages", Options{LogFormat: "json"}, "", "xterm", "plain", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("NO_COLOR", tt.noColor)
			t.Setenv("TERM", tt.term)
			o := tt.options
			o.Stderr = tty
			if live, color := o.live(), WantsColor(o.Color, tty); live != (tt.mode == "tty") || color != tt.color {
				t.Errorf("live lines %v, color %v", live, color)
			}
			if columns, rows := Size(tty); columns != 101 || rows != 33 {
				t.Errorf("size %d, %d", columns, rows)
			}
			c := New(o)
			defer c.Close()
			if (c.live != nil) != (tt.mode == "tty") {
				t.Errorf("live lines: %v", c.live != nil)
			}
		})
	}
}
