package console

import (
	"io"
	"os"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"
)

// Options are the global flags. An empty string means the first of the values named.
type Options struct {
	Stderr io.Writer
	// Progress is auto, plain or tty. auto is tty where stderr is a
	// terminal that can move its cursor, and plain elsewhere.
	Progress  string
	LogLevel  string // info, debug, warn or error
	LogFormat string // text or json
	// Color is auto, always or never: see WantsColor.
	Color string
	// Quiet leaves warnings and errors only.
	Quiet bool

	size func() (columns, rows int) // of the terminal; tests set it
}

func (o *Options) level() logrus.Level {
	level, err := logrus.ParseLevel(o.LogLevel)
	if err != nil || level < logrus.ErrorLevel { // the console tells of a wrong level
		level = logrus.InfoLevel
	}
	if o.Quiet {
		level = min(level, logrus.WarnLevel)
	}
	return level
}

// live tells whether live lines are shown. They and JSON don't go together unless asked
// for, and a quiet console has nothing to keep alive.
func (o *Options) live() bool {
	auto := o.Progress != "plain" && IsTerminal(o.Stderr) && os.Getenv("TERM") != "dumb" && o.LogFormat != "json"
	return !o.Quiet && (o.Progress == "tty" || auto)
}

// WantsColor resolves --color for w. auto colours terminals unless NO_COLOR is set
// (https://no-color.org).
func WantsColor(choice string, w io.Writer) bool {
	if choice == "always" || choice == "never" {
		return choice == "always"
	}
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Size is that of the terminal w, and of a VT100 where it can't be told.
func Size(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}
