// Package console shows events and messages to a person or a log. It is the
// only package that writes to stderr, and it never writes to stdout, which
// belongs to results.
//
// It isn't for findings: package report writes those.
package console

import (
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
)

// Console is an event.Sink and a logger. Its methods may be called from many
// goroutines.
type Console struct {
	log    *logrus.Logger
	plain  *plain
	live   *tty // nil for none
	json   bool // messages are JSON
	closed atomic.Bool
}

// New starts showing. Close ends it.
func New(o Options) *Console {
	c := &Console{log: logrus.New(), json: o.LogFormat == "json"}
	c.log.SetOutput(o.Stderr)
	c.log.SetLevel(o.level())
	if c.json {
		c.log.SetFormatter(&jsonFormat{logrus.JSONFormatter{TimestampFormat: time.RFC3339, DisableHTMLEscape: true}})
	} else {
		c.log.SetFormatter(&textFormat{color: WantsColor(o.Color, o.Stderr)})
	}
	c.plain = &plain{log: c.log, json: c.json, began: map[work]*clock{}}
	if o.live() {
		if o.size == nil {
			o.size = func() (int, int) { return Size(o.Stderr) }
		}
		c.live = newTTY(o.Stderr, o.size, c.plain)
		c.log.SetOutput(c.live)
	}
	return c
}

// Emit shows an event. After Close it does nothing.
func (c *Console) Emit(e event.Event) {
	switch {
	case c.closed.Load():
	case c.live != nil:
		c.live.Emit(e)
	default:
		c.plain.Emit(e)
	}
}

// Log returns the logger for messages that aren't progress. It works after
// Close too.
func (c *Console) Log() *logrus.Logger { return c.log }

// Close takes the live lines off the terminal. Call it before the result goes
// to stdout, which may be the same terminal. A second call does nothing.
func (c *Console) Close() {
	if !c.closed.Swap(true) && c.live != nil {
		c.live.close()
	}
}

// Fail takes the live lines off the terminal and prints the error that ends
// the command; each one of errors that were joined. nil prints nothing.
func (c *Console) Fail(err error) {
	c.Close()
	for _, e := range parts(err) {
		if c.json {
			failJSON(c.log, e, fault.ExitCode(err))
		} else {
			c.log.Error(e.Error())
		}
	}
}

// failJSON gives the command's exit code, and a fault's parts, fields of their own.
func failJSON(log *logrus.Logger, err error, code int) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		f = &fault.Error{}
	}
	fields := logrus.Fields{"exitCode": code}
	for name, text := range map[string]string{"where": f.Where, "excerpt": f.Excerpt, "fix": f.Fix} {
		if text != "" {
			fields[name] = text
		}
	}
	message := f.What
	if err != error(f) { //nolint:errorlint // somebody wrapped it, and has something to add
		message = err.Error()
	}
	log.WithFields(fields).Error(message)
}

// parts undoes errors.Join, and nothing else: an error made by fmt.Errorf with
// several %w has a text of its own.
func parts(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	var texts []string
	for _, e := range joined.Unwrap() {
		all = append(all, parts(e)...)
		texts = append(texts, e.Error())
	}
	if strings.Join(texts, "\n") != err.Error() {
		return []error{err}
	}
	return all
}
