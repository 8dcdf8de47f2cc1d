package console

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/winbake/winbake/internal/fault"
)

// Options are the global flags. An empty string stands for the first of the
// values named.
type Options struct {
	Stderr io.Writer
	// Progress is auto, plain or tty. auto is tty where stderr is a
	// terminal that can move its cursor, and plain elsewhere.
	Progress  string
	LogLevel  string // info, debug, warn or error
	LogFormat string // text or json
	// Color is auto, always or never. auto colours terminals unless NO_COLOR
	// is set (https://no-color.org).
	Color string
	// Quiet leaves warnings and errors only.
	Quiet bool

	size func() (columns, rows int) // of the terminal; tests set it
}

// check fills in defaults and refuses what isn't a choice.
func (o *Options) check() error {
	for _, f := range []struct {
		flag, fallback string
		value          *string
		choices        []string
	}{
		{"progress", "auto", &o.Progress, []string{"auto", "plain", "tty"}},
		{"log-level", "info", &o.LogLevel, []string{"debug", "info", "warn", "error"}},
		{"log-format", "text", &o.LogFormat, []string{"text", "json"}},
		{"color", "auto", &o.Color, []string{"auto", "always", "never"}},
	} {
		*f.value = cmp.Or(*f.value, f.fallback)
		if !slices.Contains(f.choices, *f.value) {
			return &fault.Error{
				What: fmt.Sprintf("--%s can't be %q", f.flag, *f.value),
				Fix:  "--" + f.flag + " " + strings.Join(f.choices, "|"),
			}
		}
	}
	if o.size == nil {
		o.size = func() (int, int) { return terminalSize(o.Stderr) }
	}
	return nil
}

func (o *Options) level() logrus.Level {
	level, err := logrus.ParseLevel(o.LogLevel)
	if err != nil {
		panic("check let a log level through: " + err.Error())
	}
	if o.Quiet {
		level = min(level, logrus.WarnLevel)
	}
	return level
}

// mode resolves auto. Live lines and JSON don't go together unless asked for,
// and a quiet console has nothing to keep alive.
func (o *Options) mode() string {
	mode := o.Progress
	if mode == "auto" {
		mode = "plain"
		if isTerminal(o.Stderr) && os.Getenv("TERM") != "dumb" && o.LogFormat == "text" {
			mode = "tty"
		}
	}
	if mode == "tty" && o.Quiet {
		return "plain"
	}
	return mode
}

func (o *Options) wantsColor() bool {
	if o.Color != "auto" {
		return o.Color == "always"
	}
	return isTerminal(o.Stderr) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalSize is that of a VT100 where it can't be told.
func terminalSize(w io.Writer) (columns, rows int) {
	if f, ok := w.(*os.File); ok {
		if columns, rows, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}
