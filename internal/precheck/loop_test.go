package precheck

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/finding"
)

var errAway = errors.New("the API server\ndoesn't answer")

// blocked is an answer with something of each kind.
func blocked() *Answer {
	return &Answer{From: "4.19.12", CatalogAsOf: "2026-08-31", Targets: []Target{
		{To: "4.19.13", Minor: "4.19", Verdict: finding.Pass, Findings: map[Finding]int{{"HP005", finding.Info}: 1}},
		{To: "4.20.3", Minor: "4.20", Verdict: finding.Block, Findings: map[Finding]int{{"HP001", finding.Block}: 2, {"SKEW001", finding.Warn}: 1}},
	}}
}

// rig is a loop in a bubble of its own time.
type rig struct {
	*loop
	began time.Time
	at    []time.Duration // when each evaluation began
	mu    sync.Mutex
	lines []string
}

func start(t *testing.T, o Options, evaluate func(ctx context.Context, n int) (*Answer, error)) *rig {
	t.Helper()
	r := &rig{began: time.Now()}
	o.Evaluate = func(ctx context.Context) (*Answer, error) {
		r.at = append(r.at, time.Since(r.began))
		return evaluate(ctx, len(r.at))
	}
	o.Events = event.Func(func(e event.Event) {
		r.mu.Lock() // the loop and the watch both tell
		defer r.mu.Unlock()
		r.lines = append(r.lines, string(e.State)+" "+e.Message)
	})
	o.complete()
	r.loop = newLoop(o, newState(o, time.Now))
	go r.run(t.Context())
	synctest.Wait()
	return r
}

// pass lets time go by.
func pass(d time.Duration) { time.Sleep(d); synctest.Wait() }

func (r *rig) get(t *testing.T, path string) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	r.s.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

// has tells whether /metrics has a line.
func (r *rig) has(t *testing.T, line string) bool {
	t.Helper()
	code, body := r.get(t, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d\n%s", code, body)
	}
	return slices.Contains(strings.Split(body, "\n"), line)
}

func TestWhenItEvaluates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, overlaps atomic.Int32
		r := start(t, Options{Interval: time.Hour, Settle: time.Minute}, func(context.Context, int) (*Answer, error) {
			if running.Add(1) > 1 {
				overlaps.Add(1)
			}
			time.Sleep(time.Second)
			running.Add(-1)
			return blocked(), nil
		})
		pass(10 * time.Minute)
		for range 1000 { // a rollout
			r.change()
			pass(10 * time.Millisecond)
		}
		pass(30 * time.Minute)
		r.change()
		pass(2*time.Hour + 10*time.Minute)
		// At once; a minute after the first change of many; a minute after the
		// other; then each hour.
		want := []time.Duration{0, 11 * time.Minute, 41*time.Minute + 10*time.Second, 101*time.Minute + 11*time.Second, 161*time.Minute + 12*time.Second}
		if !slices.Equal(r.at, want) || overlaps.Load() > 0 {
			t.Errorf("it evaluates at %v, not %v; %d at once", r.at, want, overlaps.Load())
		}
	})
}

// A change during an evaluation may have come too late for it.
func TestChangeDuringEvaluation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{Interval: time.Hour, Settle: time.Minute}, func(context.Context, int) (*Answer, error) {
			time.Sleep(10 * time.Second)
			return blocked(), nil
		})
		pass(5 * time.Second)
		r.change()
		pass(10 * time.Minute)
		if want := []time.Duration{0, 70 * time.Second}; !slices.Equal(r.at, want) {
			t.Errorf("it evaluates at %v, not %v", r.at, want)
		}
	})
}

func TestNeverTheOldAnswerForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{Interval: 10 * time.Minute}, func(_ context.Context, n int) (*Answer, error) {
			if n > 1 && n < 8 {
				return nil, errAway
			}
			return blocked(), nil
		})
		const verdict = `winbake_precheck_verdict{from="4.19.12",minor="4.20",to="4.20.3"} `
		const found = `winbake_precheck_findings{from="4.19.12",id="HP001",minor="4.20",severity="BLOCK",to="4.20.3"} 2`
		pass(25 * time.Minute)
		if !r.has(t, verdict+"4") || !r.has(t, found) || !r.has(t, "winbake_precheck_last_evaluation_success 0") {
			t.Error("an answer that is younger than the bound isn't given, or as if all were well")
		}
		pass(6 * time.Minute)
		if !r.has(t, verdict+"3") || r.has(t, found) || !r.has(t, `winbake_precheck_verdict{from="4.19.12",minor="4.19",to="4.19.13"} 3`) {
			t.Error("an old answer is given after its time")
		}
		if code, _ := r.get(t, "/healthz"); code != http.StatusOK {
			t.Errorf("/healthz is %d for what no restart fixes", code)
		}
		pass(40 * time.Minute)
		if !r.has(t, verdict+"4") || !r.has(t, found) || !r.has(t, "winbake_precheck_last_evaluation_success 1") {
			t.Error("a new answer isn't given")
		}
		if !r.has(t, `winbake_precheck_evaluations_total{result="error"} 6`) {
			t.Error("failures aren't counted")
		}
		want := []string{"note from 4.19.12: 4.19.13 PASS, 4.20.3 BLOCK (HP001)", "warning couldn't evaluate: the API server doesn't answer", "note from 4.19.12: 4.19.13 PASS, 4.20.3 BLOCK (HP001)"}
		if !slices.Equal(r.lines, want) {
			t.Errorf("it says\n%s", strings.Join(r.lines, "\n"))
		}
	})
}

func TestNeverAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{Interval: 10 * time.Minute}, func(context.Context, int) (*Answer, error) { return nil, errAway })
		if !r.has(t, `winbake_precheck_verdict{from="",minor="",to=""} 3`) {
			t.Error("what was never told isn't UNKNOWN")
		}
	})
}

// An evaluation that ends too late, or never.
func TestTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{Interval: time.Minute, Stale: 3 * time.Minute}, func(ctx context.Context, _ int) (*Answer, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		pass(3*time.Minute + time.Second)
		if !r.has(t, `winbake_precheck_evaluations_total{result="error"} 1`) || !r.has(t, "winbake_precheck_last_evaluation_duration_seconds 180") {
			t.Error("an evaluation may take longer than an answer stays good")
		}
		pass(time.Hour)
		if code, _ := r.get(t, "/healthz"); code != http.StatusOK {
			t.Errorf("/healthz is %d while evaluations come to an end", code)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		r := start(t, Options{Interval: time.Minute, Stale: 3 * time.Minute}, func(context.Context, int) (*Answer, error) {
			<-hold
			return blocked(), nil
		})
		for path, want := range map[string]int{"/readyz": http.StatusServiceUnavailable, "/healthz": http.StatusOK} {
			if code, _ := r.get(t, path); code != want {
				t.Errorf("before the first evaluation ended %s is %d", path, code)
			}
		}
		pass(4*time.Minute + time.Second)
		if code, body := r.get(t, "/healthz"); code != http.StatusServiceUnavailable || !strings.Contains(body, "come to an end") {
			t.Errorf("/healthz is %d %s while an evaluation hangs", code, body)
		}
		close(hold)
		synctest.Wait()
		for _, path := range []string{"/readyz", "/healthz"} {
			if code, _ := r.get(t, path); code != http.StatusOK {
				t.Errorf("after an evaluation %s is %d", path, code)
			}
		}
		if r.has(t, "winbake_precheck_last_evaluation_success 1") {
			t.Error("an answer of four minutes ago is taken for a new one")
		}
	})
}

// Releases that are no longer offered leave no series.
func TestOffersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{Interval: time.Minute}, func(_ context.Context, n int) (*Answer, error) {
			if n > 1 {
				return &Answer{From: "4.19.12"}, nil
			}
			return blocked(), nil
		})
		pass(90 * time.Second)
		_, body := r.get(t, "/metrics")
		if strings.Contains(body, "winbake_precheck_verdict{") || strings.Contains(body, "winbake_precheck_findings{") || !r.has(t, "winbake_precheck_targets 0") {
			t.Errorf("%s", body)
		}
		if want := "note from 4.19.12: no update is offered"; !slices.Contains(r.lines, want) {
			t.Errorf("it doesn't say %q but %q", want, r.lines)
		}
	})
}

func TestWatching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, Options{Watch: func(_ context.Context, _ func(), state func(string, error)) {
			for range 3 {
				state("nodes", nil)
				state("daemonsets", fmt.Errorf("forbidden"))
			}
		}}, func(context.Context, int) (*Answer, error) { return blocked(), nil })
		if !r.has(t, `winbake_precheck_watching{resource="nodes"} 1`) || !r.has(t, `winbake_precheck_watching{resource="daemonsets"} 0`) {
			t.Error("the metrics don't tell what is watched")
		}
		if n := len(r.lines); n != 3 || !slices.Contains(r.lines, "warning changes can't be watched, and are met every 10m0s: forbidden") {
			t.Errorf("%d lines: %q", n, r.lines)
		}
	})
}
