package console

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winbake/winbake/internal/base/event"
)

// pause is a second, and never ends at the very moment of a tick: who comes
// first then is anybody's guess.
const pause = 1050 * time.Millisecond

// onTTY runs a test on a screen, in a bubble where time costs nothing and a
// goroutine that outlives Close fails the test.
func onTTY(t *testing.T, columns, rows int, run func(c *Console, s *screen)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, columns, rows)
		c := New(Options{Stderr: s, Progress: "tty", size: s.size})
		run(c, s)
		c.Close()
		c.Close()
	})
}

func shows(t *testing.T, s *screen, when, want string) {
	t.Helper()
	want = strings.TrimPrefix(want, "\n")
	if got := s.String(); got != want {
		t.Errorf("%s:\n%swant:\n%s", when, got, want)
	}
}

func start(c *Console, object string, phase event.Phase) {
	c.Emit(event.Event{Object: object, Phase: phase, State: event.Start})
}

func TestLiveLines(t *testing.T) {
	onTTY(t, 80, 24, func(c *Console, s *screen) {
		start(c, "csi-proxy", event.Compile)
		start(c, "layer", event.Push)
		time.Sleep(2050 * time.Millisecond)
		c.Emit(event.Event{Object: "layer", Phase: event.Push, State: event.Progress, Done: 12_300_000, Total: 45_600_000})
		time.Sleep(100 * time.Millisecond)
		shows(t, s, "at work", `
csi-proxy                    compile     2s|
layer                        push        2s  12.3/45.6 MB  27%|
|
`)
		c.Log().Info("a message")
		c.Emit(event.Event{Object: "csi-proxy", Phase: event.Compile, State: event.Done})
		shows(t, s, "one is done", `
a message|
csi-proxy                    compile  done   2.2s|
layer                        push        2s  12.3/45.6 MB  27%|
|
`)
		c.Emit(event.Event{Object: "layer", Phase: event.Push, State: event.Failed})
		c.Fail(errors.New("all is lost"))
		c.Log().Warn("later")
		shows(t, s, "in the end", `
a message|
csi-proxy                    compile  done   2.2s|
error: all is lost|
warning: later|
|
`)
	})
}

// A command may write its result to the same terminal once all is done.
func TestNothingIsDrawnAfterTheLastPhase(t *testing.T) {
	onTTY(t, 80, 24, func(c *Console, s *screen) {
		start(c, "a", event.Write)
		time.Sleep(pause)
		c.Emit(event.Event{Object: "a", Phase: event.Write, State: event.Cached})
		fmt.Fprint(s, "_output/image@sha256:12\n")
		writes := s.written()
		time.Sleep(pause)
		c.Close()
		if s.written() != writes || !strings.HasSuffix(s.String(), "\n_output/image@sha256:12|\n|\n") {
			t.Errorf("%d writes more:\n%s", s.written()-writes, s)
		}
	})
}

func TestMutedEndIsErased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScreen(t, 80, 24)
		c := New(Options{Stderr: s, Progress: "tty", LogLevel: "error", size: s.size})
		defer c.Close()
		start(c, "a", event.Write)
		time.Sleep(pause)
		c.Emit(event.Event{Object: "a", Phase: event.Write, State: event.Done})
		shows(t, s, "done", "|\n")
	})
}

func TestCloseErasesLiveLines(t *testing.T) {
	onTTY(t, 80, 24, func(c *Console, s *screen) {
		start(c, "a", event.Write)
		start(c, "b", event.Write)
		time.Sleep(pause)
		fmt.Fprint(s, "^C")
		c.Close()
		shows(t, s, "closed", "|\n")
		start(c, "c", event.Write)
		c.Emit(event.Event{Object: "b", Phase: event.Write, State: event.Done})
		time.Sleep(pause)
		shows(t, s, "later", "|\n")
	})
}

func TestMoreLinesThanRows(t *testing.T) {
	onTTY(t, 30, 5, func(c *Console, s *screen) {
		for i := range 7 {
			start(c, fmt.Sprintf("component-%d-with-a-long-name", i), event.Compile)
		}
		time.Sleep(pause)
		want := `
component-0-with-a-long-name|
component-1-with-a-long-name|
component-2-with-a-long-name|
and 4 more|
|
`
		shows(t, s, "at work", want)
		time.Sleep(time.Minute + pause/2)
		shows(t, s, "a minute later", want)
	})
}

func TestExactlyAsManyLinesAsFit(t *testing.T) {
	onTTY(t, 12, 4, func(c *Console, s *screen) {
		for _, n := range []string{"a", "b", "c"} {
			start(c, n, event.Compile)
		}
		time.Sleep(pause)
		shows(t, s, "at work", "a|\nb|\nc|\n|\n")
	})
}

func TestTinyTerminal(t *testing.T) {
	for _, size := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {5, 2}} {
		onTTY(t, size[0], size[1], func(c *Console, s *screen) {
			start(c, "a", event.Compile)
			start(c, "b", event.Compile)
			time.Sleep(pause)
			c.Close()
			shows(t, s, fmt.Sprint(size), "|\n")
		})
	}
}

func TestNarrowerThanItWasDrawn(t *testing.T) {
	onTTY(t, 80, 24, func(c *Console, s *screen) {
		start(c, "a", event.Compile)
		start(c, "b", event.Compile)
		time.Sleep(pause)
		s.resize(20)
		time.Sleep(pause)
		shows(t, s, "resized", "a|\nb|\n|\n")
	})
}

func TestWideAndHostileNames(t *testing.T) {
	onTTY(t, 20, 24, func(c *Console, s *screen) {
		start(c, "日本語日本語日本語日本語", event.Compile)
		start(c, hostile+"\n", event.Compile)
		time.Sleep(pause)
		shows(t, s, "at work", `
日本語日本語日本語|
a\x1b[31mb\u009b2J\|
|
`)
	})
}

func TestANewPhaseStartsItsOwnClock(t *testing.T) {
	onTTY(t, 80, 24, func(c *Console, s *screen) {
		start(c, "a", event.Fetch)
		time.Sleep(time.Minute)
		start(c, "a", event.Compile)
		time.Sleep(3050 * time.Millisecond)
		shows(t, s, "at work", "a                            compile     3s|\n|\n")
	})
}

func TestTenDrawsASecond(t *testing.T) {
	onTTY(t, 80, 24, func(c *Console, s *screen) {
		for i := range int64(1000) {
			c.Emit(event.Event{Object: "a", Phase: event.Push, State: event.Progress, Done: i})
			time.Sleep(time.Millisecond)
		}
		if n := s.written(); n > 10 {
			t.Errorf("%d draws in a second", n)
		}
	})
}

func TestAmount(t *testing.T) {
	for _, tt := range []struct {
		phase       event.Phase
		done, total int64
		want        string
	}{
		{event.Push, 0, 0, ""},
		{event.Push, 1_500_000, 0, "1.5 MB"},
		{event.Pack, 0, 3_000_000, "0.0/3.0 MB   0%"},
		{event.Fetch, 9, 3, "0.0/0.0 MB  100%"}, // a retry, or a wrong length
		{event.Compile, 3, 0, "3"},
		{event.Resolve, 3, 12, "3/12"},
	} {
		if got := amount(event.Event{Phase: tt.phase, Done: tt.done, Total: tt.total}); got != tt.want {
			t.Errorf("%s %d of %d: %q, want %q", tt.phase, tt.done, tt.total, got, tt.want)
		}
	}
}
