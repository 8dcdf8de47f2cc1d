package console

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns the program's end of a new terminal.
func openTerminal(t *testing.T, columns, rows uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	size := &unix.Winsize{Col: columns, Row: rows}
	if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, size); err != nil {
		t.Fatal(err)
	}
	return terminal
}

func TestOnATerminal(t *testing.T) {
	terminal := openTerminal(t, 101, 33)
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
			o.Stderr = terminal
			if err := o.check(); err != nil {
				t.Fatal(err)
			}
			if o.mode() != tt.mode || o.wantsColor() != tt.color {
				t.Errorf("mode %s, color %v", o.mode(), o.wantsColor())
			}
			if columns, rows := o.size(); columns != 101 || rows != 33 {
				t.Errorf("size %d, %d", columns, rows)
			}
			c := Must(o)
			defer c.Close()
			if c.Color() != tt.color {
				t.Errorf("Color() = %v", c.Color())
			}
		})
	}
}
