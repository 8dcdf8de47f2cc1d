package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/printable"
)

// redraw is how often live lines are drawn: smooth enough for the eye, and it
// costs nothing.
const redraw = 100 * time.Millisecond

// tty keeps one live line for each object that is worked on, below whatever
// else is printed. Progress waits for the next tick. The end of a phase is
// drawn at once: stdout may be the same terminal, and what a command writes
// there next mustn't land among live lines.
type tty struct {
	plain *plain // prints what stays
	size  func() (columns, rows int)
	stop  chan struct{}
	ended chan struct{}

	mu     sync.Mutex
	w      io.Writer
	live   []*liveLine // in order of their start
	drawn  []string    // the live lines on the screen
	closed bool
}

func newTTY(w io.Writer, size func() (int, int), plain *plain) *tty {
	t := &tty{plain: plain, size: size, w: w, stop: make(chan struct{}), ended: make(chan struct{})}
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
			t.refresh()
		}
	}
}

// Emit implements event.Sink.
func (t *tty) Emit(e event.Event) {
	elapsed, _ := t.plain.track(e)
	switch {
	case e.State == event.Start || e.State == event.Progress:
		t.update(e)
		return
	case ended(e.State):
		t.drop(e.Object)
	}
	t.plain.print(e, elapsed) // comes back as Write, unless its level is muted
	t.refresh()
}

func (t *tty) update(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.live, func(l *liveLine) bool { return l.last.Object == e.Object })
	if i < 0 {
		i = len(t.live)
		t.live = append(t.live, &liveLine{began: time.Now()})
	} else if t.live[i].last.Phase != e.Phase {
		t.live[i].began = time.Now()
	}
	t.live[i].last = e
}

func (t *tty) drop(object string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live = slices.DeleteFunc(t.live, func(l *liveLine) bool { return l.last.Object == object })
}

// Write prints messages, whole lines, above the live lines.
func (t *tty) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return t.w.Write(p)
	}
	return len(p), t.draw(p)
}

func (t *tty) refresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.draw(nil) // the terminal is gone: nobody to tell
}

// draw erases the live lines, prints above and draws them again, in one write
// so that nothing flickers. When there is nothing new it writes nothing.
func (t *tty) draw(above []byte) error {
	if t.closed {
		return nil
	}
	columns, rows := t.size()
	lines := render(t.live, columns, rows-1)
	if len(above) == 0 && slices.Equal(lines, t.drawn) {
		return nil
	}
	var b strings.Builder
	if up := min(rowsOf(t.drawn, columns), rows-1); up > 0 {
		// Ctrl-C may have echoed ^C: go to the first column as well.
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", up)
	}
	b.Write(above)
	for _, l := range lines {
		b.WriteString(l + "\n")
	}
	t.drawn = lines
	_, err := io.WriteString(t.w, b.String())
	return err
}

// rowsOf returns how many rows lines take on a terminal that may have been
// made narrower since they were drawn.
func rowsOf(lines []string, columns int) int {
	n := 0
	for _, l := range lines {
		n += max(1, (printable.Columns(l)+columns-1)/columns)
	}
	return n
}

func (t *tty) close() {
	close(t.stop)
	<-t.ended
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live = nil
	_ = t.draw(nil) // the terminal is gone: nobody to tell
	t.closed = true
}
