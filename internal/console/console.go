// Package console shows events and messages to a person or a log. It is the
// only package that writes to stderr, and it never writes to stdout, which
// belongs to results.
//
// It isn't for findings: package report writes those.
package console

import (
	"sync"

	"github.com/sirupsen/logrus"

	"github.com/winbake/winbake/internal/event"
)

// Console is an event.Sink and a logger. Its methods may be called from many
// goroutines.
type Console struct {
	log   *logrus.Logger
	show  shower
	json  bool // messages are JSON
	color bool
	once  sync.Once
}

type shower interface {
	event.Sink
	close()
}

// New checks the options and starts showing. Close ends it. A value that an
// option can't have is a fault that names the flag.
func New(o Options) (*Console, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	c := &Console{log: logrus.New(), json: o.LogFormat == "json", color: o.wantsColor()}
	c.log.SetOutput(o.Stderr)
	c.log.SetLevel(o.level())
	if c.json {
		c.log.SetFormatter(newJSONFormat())
	} else {
		c.log.SetFormatter(&textFormat{color: c.color})
	}
	switch plain := newPlain(c.log, c.json); o.mode() {
	case "tty":
		t := newTTY(o.Stderr, o.size, plain)
		c.log.SetOutput(t)
		c.show = t
	default:
		c.show = plain
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

// Emit shows an event. After Close it does nothing.
func (c *Console) Emit(e event.Event) { c.show.Emit(e) }

// Log returns the logger for messages that aren't progress. It works after
// Close too.
func (c *Console) Log() *logrus.Logger { return c.log }

// Color reports whether stderr may be coloured.
func (c *Console) Color() bool { return c.color }

// Close takes the live lines off the terminal. Call it before the result goes
// to stdout, which may be the same terminal. A second call does nothing.
func (c *Console) Close() { c.once.Do(c.show.close) }
