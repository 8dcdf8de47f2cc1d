package console

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/winbake/winbake/internal/event"
)

// plainShower writes a line for each phase that starts or ends, for logs.
type plainShower struct {
	mu    sync.Mutex
	log   *logrus.Logger
	now   func() time.Time
	began map[string]time.Time // by object
	done  bool
}

func (p *plainShower) Emit(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.done || e.State == event.Progress {
		return
	}
	if e.State == event.Start && p.began[e.Object].IsZero() {
		p.began[e.Object] = p.now()
	}
	line := fmt.Sprintf("%-28s %-8s %s", e.Object, e.Phase, e.State)
	if e.Message != "" {
		line += "  " + e.Message
	}
	switch e.State {
	case event.Warning:
		p.log.Warn(line)
	case event.Failed:
		p.log.Error(line)
	default:
		p.log.Info(line)
	}
}

func (p *plainShower) close() {
	p.mu.Lock()
	p.done = true
	p.mu.Unlock()
}

// jsonShower writes each event as a line of JSON.
type jsonShower struct {
	mu  sync.Mutex
	w   io.Writer
	now func() time.Time
}

func (j *jsonShower) Emit(e event.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	_ = json.NewEncoder(j.w).Encode(struct { // stderr is gone: nobody to tell
		Time string `json:"time"`
		event.Event
	}{j.now().UTC().Format(time.RFC3339Nano), e})
}

func (j *jsonShower) close() {}
