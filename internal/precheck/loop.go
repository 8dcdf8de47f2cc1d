package precheck

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
)

type loop struct {
	o       Options
	s       *state
	changed chan struct{} // holds one: many changes are one reason
	said    string        // the last line of the log about verdicts
}

func newLoop(o Options, s *state) *loop {
	return &loop{o: o, s: s, changed: make(chan struct{}, 1)}
}

// run evaluates at once, then after changes and intervals, until ctx is done.
func (l *loop) run(ctx context.Context) {
	if l.o.Watch != nil {
		go l.o.Watch(ctx, l.change, l.watching)
	}
	for {
		l.evaluate(ctx)
		if !l.wait(ctx) {
			return
		}
	}
}

// change asks for an evaluation. It never waits.
func (l *loop) change() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// wait returns when it is time to evaluate again; false when ctx is done. After
// a change others follow: a rollout touches a thousand objects.
func (l *loop) wait(ctx context.Context) bool {
	next := time.NewTimer(l.o.Interval)
	defer next.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-next.C:
		return true
	case <-l.changed:
	}
	settled := time.NewTimer(l.o.Settle)
	defer settled.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-settled.C:
	}
	// What changed meanwhile is seen by the evaluation that begins now.
	select {
	case <-l.changed:
	default:
	}
	return true
}

// evaluate does it once. An answer that comes after its time is none: it tells of
// a cluster that was.
func (l *loop) evaluate(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, l.o.Stale)
	defer cancel()
	began := l.s.now()
	answer, err := l.o.Evaluate(limited)
	if ctx.Err() != nil {
		return
	}
	if err == nil && limited.Err() != nil {
		err = fmt.Errorf("it took longer than %s", l.o.Stale)
	}
	l.s.finish(answer, err, l.s.now().Sub(began))
	l.tell(answer, err)
}

// tell writes a line where something is new: ten thousand lines that all is as it
// was would hide it.
func (l *loop) tell(a *Answer, err error) {
	e := event.Event{Object: "precheck", Phase: event.Verify, State: event.Note}
	if err != nil {
		e.State, e.Message = event.Warning, "couldn't evaluate: "+printable.OneLine(err.Error())
	} else {
		e.Message = a.String()
	}
	if e.Message != l.said {
		l.o.Events.Emit(e)
	}
	l.said = e.Message
}

// String is the answer in a line: "from 4.19.12: 4.20.3 WARN, 4.20.4 WARN".
func (a *Answer) String() string {
	if len(a.Targets) == 0 {
		return "from " + cmp.Or(a.From, "unknown") + ": no update is offered"
	}
	var words []string
	for _, t := range a.Targets {
		words = append(words, cmp.Or(t.To, "unknown")+" "+t.Verdict.String()+t.reasons())
	}
	return "from " + cmp.Or(a.From, "unknown") + ": " + strings.Join(words, ", ")
}

func (t *Target) reasons() string {
	var ids []string
	for _, f := range t.sorted() {
		if f.Severity == t.Verdict && t.Verdict > finding.Info {
			ids = append(ids, f.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return " (" + strings.Join(ids, " ") + ")"
}

func (l *loop) watching(resource string, err error) {
	if !l.s.watches(resource, err) {
		return
	}
	e := event.Event{Object: resource, Phase: event.Read, State: event.Note, Message: "changes are watched"}
	if err != nil {
		e.State = event.Warning
		e.Message = fmt.Sprintf("changes can't be watched, and are met every %s: %s", l.o.Interval, printable.OneLine(err.Error()))
	}
	l.o.Events.Emit(e)
}

// state is what is known, between the loop that finds it out and those who ask.
type state struct {
	stale, interval time.Duration
	version         string
	now             func() time.Time

	mu      sync.Mutex
	began   time.Time
	answer  *Answer   // of the last evaluation that succeeded; nil for none
	success time.Time // when that one ended
	last    attempt
	counts  map[string]float64 // evaluations by how they ended
	watched map[string]bool    // resources, and whether the watch stands
}

// attempt is one evaluation, however it ended.
type attempt struct {
	ended time.Time // the zero value before the first
	took  time.Duration
	err   error
}

// How evaluations end.
const (
	succeeded = "success"
	failed    = "error"
)

func newState(o Options, now func() time.Time) *state {
	return &state{
		stale: o.Stale, interval: o.Interval, version: o.Version, now: now, began: now(),
		counts: map[string]float64{succeeded: 0, failed: 0}, watched: map[string]bool{},
	}
}

func (s *state) finish(a *Answer, err error, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = attempt{ended: s.now(), took: took, err: err}
	if err != nil {
		s.counts[failed]++
		return
	}
	s.counts[succeeded]++
	s.answer, s.success = a, s.last.ended
}

// watches notes whether a resource is watched, and tells whether that is new.
func (s *state) watches(resource string, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, known := s.watched[resource]
	s.watched[resource] = err == nil
	return !known || was != (err == nil)
}

// ready: there was an evaluation, well or badly, and the metrics tell which.
func (s *state) ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.last.ended.IsZero()
}

// healthy: evaluations come to an end. One may take as long as an answer stays
// good; that the API server is away is no fault of this process.
func (s *state) healthy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.began
	if !s.last.ended.IsZero() {
		since = s.last.ended
	}
	return s.now().Sub(since) <= s.stale+s.interval
}

// targets are the verdicts that hold now. Those that are too old are UNKNOWN,
// and so is what was never told.
func (s *state) targets() []Target {
	switch {
	case s.answer == nil && s.last.ended.IsZero():
		return nil // too early to say anything
	case s.answer == nil:
		return []Target{unknownTarget("")}
	case s.now().Sub(s.success) <= s.stale:
		return s.answer.Targets
	}
	old := []Target{unknownTarget("")}
	if len(s.answer.Targets) > 0 {
		old = nil
	}
	for _, t := range s.answer.Targets {
		old = append(old, Target{To: t.To, Minor: t.Minor, Verdict: finding.Unknown, Concern: NotKnown})
	}
	return old
}
