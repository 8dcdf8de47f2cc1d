// Package console shows events and messages to a person or a log. It is the
// only package that writes to stderr, and it never writes to stdout, which
// belongs to results.
package console

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"
	"golang.org/x/term"

	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
)

// Options are the global flags.
type Options struct {
	Stderr    io.Writer
	Progress  string // auto, plain, tty or json
	LogLevel  string // debug, info, warn or error
	LogFormat string // text or json
	Quiet     bool

	now func() time.Time // tests set it
}

// Console is an event.Sink and a logger.
type Console struct {
	log   *logrus.Logger
	show  shower
	color bool
	once  sync.Once
}

// shower is a way to show events.
type shower interface {
	event.Sink
	close()
}

// New checks the options and starts showing.
func New(o Options) (*Console, error) {
	level, err := logrus.ParseLevel(or(o.LogLevel, "info"))
	if err != nil {
		return nil, &fault.Error{What: fmt.Sprintf("no log level %q", o.LogLevel), Fix: "--log-level debug, info, warn or error", Err: err}
	}
	if o.Quiet {
		level = min(level, logrus.WarnLevel)
	}
	if o.now == nil {
		o.now = time.Now
	}
	c := &Console{log: logrus.New(), color: isTerminal(o.Stderr) && os.Getenv("NO_COLOR") == ""}
	c.log.SetOutput(o.Stderr)
	c.log.SetLevel(level)
	switch or(o.LogFormat, "text") {
	case "text":
		c.log.SetFormatter(&plainFormat{color: c.color})
	case "json":
		c.log.SetFormatter(&logrus.JSONFormatter{TimestampFormat: time.RFC3339})
	default:
		return nil, &fault.Error{What: fmt.Sprintf("no log format %q", o.LogFormat), Fix: "--log-format text or json"}
	}
	if c.show, err = newShower(c, o); err != nil {
		return nil, err
	}
	return c, nil
}

// Must is New for options that are known to be right.
func Must(o Options) *Console {
	c, err := New(o)
	if err != nil {
		panic(err)
	}
	return c
}

func newShower(c *Console, o Options) (shower, error) {
	progress := or(o.Progress, "auto")
	if progress == "auto" {
		progress = "plain"
		if isTerminal(o.Stderr) && os.Getenv("TERM") != "dumb" && or(o.LogFormat, "text") == "text" {
			progress = "tty"
		}
	}
	switch {
	case progress == "json":
		return &jsonShower{w: o.Stderr, now: o.now}, nil
	case progress == "plain", progress == "tty" && o.Quiet:
		return &plainShower{log: c.log, now: o.now, began: map[string]time.Time{}}, nil
	case progress == "tty":
		t := newTTY(o.Stderr, o.now)
		c.log.SetOutput(t) // messages go above the live lines
		return t, nil
	}
	return nil, &fault.Error{What: fmt.Sprintf("no progress %q", o.Progress), Fix: "--progress auto, plain, tty or json"}
}

// Emit shows an event.
func (c *Console) Emit(e event.Event) { c.show.Emit(e) }

// Log returns the logger for messages that aren't progress.
func (c *Console) Log() *logrus.Logger { return c.log }

// Color reports whether stderr is a terminal that may be coloured.
func (c *Console) Color() bool { return c.color }

// Fail prints the error that ends the command.
func (c *Console) Fail(err error) {
	c.Close()
	c.log.Error(err.Error())
}

// Close leaves the terminal clean. Later events are dropped.
func (c *Console) Close() { c.once.Do(c.show.close) }

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// plainFormat prints the message, after its level where that isn't info.
type plainFormat struct{ color bool }

// Format implements logrus.Formatter.
func (p *plainFormat) Format(e *logrus.Entry) ([]byte, error) {
	message := strings.TrimRight(e.Message, "\n") + "\n"
	if e.Level == logrus.InfoLevel {
		return []byte(message), nil
	}
	level := e.Level.String()
	if p.color {
		code := map[logrus.Level]string{logrus.ErrorLevel: "31", logrus.WarnLevel: "33"}[e.Level]
		level = "\x1b[" + or(code, "2") + "m" + level + "\x1b[0m"
	}
	return []byte(level + ": " + message), nil
}
