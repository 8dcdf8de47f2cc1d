package precheck

import (
	"sync"
	"time"

	"github.com/winbake/winbake/internal/finding"
)

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
