package console

import (
	"encoding/json"
	"io"
	"sync"
	"time"

	"github.com/winbake/winbake/internal/event"
)

// jsonShower writes each event as a line of JSON. Of the progress of one phase
// it writes ten a second at most: a push has thousands of them.
type jsonShower struct {
	quiet bool

	mu     sync.Mutex
	w      io.Writer
	last   map[work]time.Time
	closed bool
}

func newJSONShower(w io.Writer, quiet bool) *jsonShower {
	return &jsonShower{w: w, quiet: quiet, last: map[work]time.Time{}}
}

// Emit implements event.Sink.
func (j *jsonShower) Emit(e event.Event) {
	if j.quiet && e.State != event.Warning && e.State != event.Failed {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	if j.closed || j.tooSoon(e, now) {
		return
	}
	data, err := json.Marshal(struct {
		Time string `json:"time"`
		event.Event
	}{now.UTC().Format(time.RFC3339Nano), e})
	if err != nil {
		panic("an event that JSON can't hold: " + err.Error())
	}
	_, _ = j.w.Write(append(cleanJSON(data), '\n')) // stderr is gone: nobody to tell
}

// tooSoon never holds back the last progress of a phase, 100 %.
func (j *jsonShower) tooSoon(e event.Event, now time.Time) bool {
	key := work{e.Object, e.Phase}
	if e.State != event.Progress {
		delete(j.last, key)
		return false
	}
	last, known := j.last[key]
	if known && now.Sub(last) < redraw && (e.Total == 0 || e.Done < e.Total) {
		return true
	}
	j.last[key] = now
	return false
}

func (j *jsonShower) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
}
