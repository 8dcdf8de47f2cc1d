package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/winbake/winbake/internal/event"
)

// redraw is how often live lines are drawn. Ten times a second looks smooth
// and costs nothing.
const redraw = 100 * time.Millisecond

// tty keeps one live line for each object that is worked on, below whatever
// else is printed.
type tty struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	size  func() (width, height int)
	lines []*ttyLine
	drawn int // live lines on the screen
	stop  chan struct{}
	ended chan struct{}
}

type ttyLine struct {
	last  event.Event
	began time.Time
}

func newTTY(w io.Writer, now func() time.Time) *tty {
	t := &tty{w: w, now: now, stop: make(chan struct{}), ended: make(chan struct{})}
	t.size = func() (int, int) {
		if f, ok := w.(*os.File); ok {
			if width, height, err := term.GetSize(int(f.Fd())); err == nil {
				return width, height
			}
		}
		return 80, 24
	}
	go t.run()
	return t
}

func (t *tty) run() {
	defer close(t.ended)
	tick := time.NewTicker(redraw)
	defer tick.Stop()
	for {
		select {
		case <-t.stop:
			return
		case <-tick.C:
			t.mu.Lock()
			t.draw(nil)
			t.mu.Unlock()
		}
	}
}

// Write prints a message above the live lines.
func (t *tty) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.draw(p)
	return len(p), nil
}

func (t *tty) Emit(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.line(e.Object)
	switch e.State {
	case event.Done, event.Cached, event.Failed, event.Warning, event.Note:
		t.draw([]byte(t.summary(line, e) + "\n"))
		if line != nil && e.State != event.Warning && e.State != event.Note {
			t.drop(line)
		}
	case event.Start, event.Progress:
		if line == nil {
			line = &ttyLine{began: t.now()}
			t.lines = append(t.lines, line)
		}
		line.last = e
	}
}

func (t *tty) line(object string) *ttyLine {
	for _, l := range t.lines {
		if l.last.Object == object {
			return l
		}
	}
	return nil
}

func (t *tty) drop(line *ttyLine) {
	kept := t.lines[:0]
	for _, l := range t.lines {
		if l != line {
			kept = append(kept, l)
		}
	}
	t.lines = kept
}

// summary is the lasting line of a phase that ended.
func (t *tty) summary(line *ttyLine, e event.Event) string {
	s := fmt.Sprintf("%-28s %-8s %s", e.Object, e.Phase, e.State)
	if e.Message != "" {
		s += "  " + e.Message
	} else if line != nil && e.State == event.Done {
		s += "  " + t.now().Sub(line.began).Round(100*time.Millisecond).String()
	}
	return s
}

// draw erases the live lines, prints above and draws them again, in one
// write so that nothing flickers.
func (t *tty) draw(above []byte) {
	if t.drawn == 0 && len(t.lines) == 0 && above == nil {
		return
	}
	var b bytes.Buffer
	if t.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", t.drawn)
	}
	b.Write(above)
	width, height := t.size()
	t.drawn = min(len(t.lines), max(height-1, 0))
	for _, l := range t.lines[:t.drawn] {
		b.WriteString(cut(t.live(l), width-1) + "\n")
	}
	_, _ = t.w.Write(b.Bytes()) // the terminal is gone: nobody to tell
}

func (t *tty) live(l *ttyLine) string {
	s := fmt.Sprintf("%-28s %-8s %4ds", l.last.Object, l.last.Phase, int(t.now().Sub(l.began).Seconds()))
	if l.last.Total > 0 {
		s += fmt.Sprintf("  %d%%", 100*l.last.Done/l.last.Total)
	}
	return s + "  " + l.last.Message
}

func cut(s string, width int) string {
	r := []rune(strings.TrimRight(s, " "))
	return string(r[:min(len(r), max(width, 0))])
}

func (t *tty) close() {
	close(t.stop)
	<-t.ended
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = nil
	t.draw([]byte{})
}
