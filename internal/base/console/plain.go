package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/printable"
)

// plain writes a line for each phase that starts or ends, and one a minute for
// those that take longer, for logs.
type plain struct {
	log  *logrus.Logger
	json bool

	mu    sync.Mutex
	began map[work]*clock
}

// work is a phase of an object.
type work struct {
	object string
	phase  event.Phase
}

// clock is when a phase began, and how many minutes of it were told of.
type clock struct {
	began time.Time
	told  int
}

// Emit implements event.Sink.
func (p *plain) Emit(e event.Event) {
	if elapsed, due := p.track(e); due {
		p.print(e, elapsed)
	}
}

// track returns how long a phase took when e ends it, or has taken so far, and whether
// that is worth a line: of progress, once a minute.
func (p *plain) track(e event.Event) (elapsed time.Duration, due bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := work{e.Object, e.Phase}
	if e.State == event.Start {
		p.began[key] = &clock{began: time.Now()}
	}
	c := p.began[key]
	if c == nil {
		return 0, e.State != event.Progress
	}
	elapsed = time.Since(c.began)
	switch minutes := int(elapsed.Minutes()); {
	case ended(e.State):
		delete(p.began, key)
	case e.State != event.Progress:
		return 0, true
	case minutes <= c.told:
		return elapsed, false
	default:
		c.told = minutes
	}
	return elapsed, true
}

func ended(s event.State) bool {
	return s == event.Done || s == event.Cached || s == event.Failed
}

func (p *plain) print(e event.Event, elapsed time.Duration) {
	level := logrus.InfoLevel
	switch e.State {
	case event.Warning:
		level = logrus.WarnLevel
	case event.Failed:
		if !p.json { // the error that ends the command says it, and more
			level = logrus.DebugLevel
		}
	case event.Start, event.Progress, event.Done, event.Cached, event.Note:
	}
	if p.json {
		fields := logrus.Fields{"object": e.Object, "phase": e.Phase, "state": e.State}
		if elapsed > 0 {
			fields["seconds"] = elapsed.Seconds()
		}
		p.log.WithFields(fields).Log(level, e.Message)
		return
	}
	p.log.Log(level, line(e, elapsed))
}

// line is an event on one line: in columns what becomes of a phase, else in prose. A
// message takes the place of the elapsed time: who sends one knows
// more.
func line(e event.Event, elapsed time.Duration) string {
	object, message := cleanLine(e.Object), cleanLine(e.Message)
	switch e.State {
	case event.Warning, event.Note:
		return cmp.Or(object, string(e.Phase)) + ": " + message
	case event.Progress:
		parts := slices.DeleteFunc([]string{short(elapsed), amount(e), message}, func(s string) bool { return s == "" })
		message = strings.Join(parts, ", ")
	case event.Start, event.Done, event.Cached, event.Failed:
	}
	if message == "" && elapsed > 0 {
		message = short(elapsed)
	}
	return strings.TrimRight(fmt.Sprintf("%-28s %-8s %-6s %s", object, e.Phase, e.State, message), " ")
}

// short rounds d to what a person cares about.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// textFormat prints the message, after its level where that isn't info.
type textFormat struct{ color bool }

var levelColors = map[logrus.Level]string{logrus.ErrorLevel: "31", logrus.WarnLevel: "33", logrus.DebugLevel: "2"}

// Format implements logrus.Formatter.
func (f *textFormat) Format(e *logrus.Entry) ([]byte, error) {
	message := printable.Text(strings.TrimRight(e.Message, "\n")) + "\n"
	if e.Level == logrus.InfoLevel {
		return []byte(message), nil
	}
	level := e.Level.String() + ":"
	if f.color {
		level = "\x1b[" + levelColors[e.Level] + "m" + level + "\x1b[0m"
	}
	return []byte(level + " " + message), nil
}

// jsonFormat is logrus's own, fit for a terminal.
type jsonFormat struct{ logrus.JSONFormatter }

// Format implements logrus.Formatter.
func (f *jsonFormat) Format(e *logrus.Entry) ([]byte, error) {
	e.Time = e.Time.UTC()
	line, err := f.JSONFormatter.Format(e)
	return []byte(printable.JSON(string(line))), err
}

// cleanLine is a printable line of what may have been several.
func cleanLine(s string) string {
	return printable.Line(strings.NewReplacer("\n", " ", "\t", " ").Replace(s))
}
