package app

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns the program's end of a new terminal.
func openTerminal(t *testing.T) *os.File {
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
	return terminal
}

func TestColor(t *testing.T) {
	terminal := openTerminal(t)
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
		if got := Color(&result{app: &App{}, w: terminal}); got != tt.want {
			t.Errorf("NO_COLOR=%q TERM=%q: %v", tt.noColor, tt.term, got)
		}
		if Color(&bytes.Buffer{}) {
			t.Error("colours in a buffer")
		}
	}
}
