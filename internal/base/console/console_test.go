package console

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
)

var update = flag.Bool("update", false, "write the golden files")

const hostile = "a\x1b[31mb\u009b2J\xff\u202ec\rd\x00\U000e0001"

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (-update rewrites it):\n%s", path, got)
	}
}

// build is the events and messages of a small build, over 45 seconds.
func build(c *Console) {
	emit := func(object string, phase event.Phase, state event.State, message string) {
		c.Emit(event.Event{Object: object, Phase: phase, State: state, Message: message})
	}
	c.Log().Debug("the toolchain is go1.26.8")
	emit("kubelet", event.Compile, event.Cached, "")
	emit("csi-proxy", event.Fetch, event.Start, "")
	for i := range int64(4) {
		time.Sleep(time.Second)
		c.Emit(event.Event{Object: "csi-proxy", Phase: event.Fetch, State: event.Progress, Done: i * 1e6, Total: 3e6})
	}
	emit("csi-proxy", event.Fetch, event.Done, "")
	emit("csi-proxy", event.Compile, event.Start, "with go1.26.8")
	c.Log().Infof("a message\nof two lines")
	time.Sleep(41 * time.Second)
	emit("csi-proxy", event.Compile, event.Done, "")
	emit("csi-proxy", event.Compile, event.Cached, "") // it began once only
	emit("layer", event.Pack, event.Warning, "the cache was damaged; making it again")
	emit("layer", event.Pack, event.Start, "")
	emit("layer", event.Pack, event.Done, "13 files, 31.0 MB")
	emit("", event.Resolve, event.Note, "nothing to resolve")
	emit(hostile, event.Push, event.Failed, hostile+"\nand more")
	c.Log().Warn("a warning with " + hostile)
}

var errBuild = errors.Join(
	&fault.Error{Where: "versions.yaml:7:13", What: "commit can't be <short>", Excerpt: "  commit: 5cb6\n          ^", Fix: "give all 40 digits"},
	fmt.Errorf("build csi-proxy: %w", &fault.Error{What: "the compiler failed", Excerpt: "x.go:1: " + hostile, Fix: "fix it"}),
	fmt.Errorf("%w and %w", errors.New("one"), errors.New("two")),
)

func TestGolden(t *testing.T) {
	for name, o := range map[string]Options{
		"plain.txt":       {Progress: "plain"},
		"auto.txt":        {},
		"debug-color.txt": {Color: "always", LogLevel: "debug"},
		"quiet.txt":       {Quiet: true, LogLevel: "debug"},
		"quiet-tty.txt":   {Quiet: true, Progress: "tty"},
		"error.txt":       {LogLevel: "error"},
		"log-json.txt":    {LogFormat: "json"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var b bytes.Buffer
				o.Stderr = &b
				c := New(o)
				build(c)
				c.Fail(errBuild)
				c.Fail(nil)
				c.Emit(event.Event{Object: "late", Phase: event.Push, State: event.Warning})
				golden(t, name, b.String())
				if name == "log-json.txt" {
					linesOfJSON(t, b.String())
				}
			})
		})
	}
}

// What takes long has a line a minute in a log, with what is known of it.
func TestLongPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		c := New(Options{Stderr: &b, Progress: "plain"})
		e := event.Event{Object: "csi-proxy", Phase: event.Compile, State: event.Start, Message: "2 of 13, about 3 min, as last time"}
		c.Emit(e)
		e.State = event.Progress
		for range 26 {
			time.Sleep(5 * time.Second)
			c.Emit(e)
		}
		fetch := event.Event{Object: "kubelet", Phase: event.Fetch, State: event.Start}
		c.Emit(fetch)
		time.Sleep(time.Minute)
		fetch.State, fetch.Done, fetch.Total = event.Progress, 1e6, 3e6
		c.Emit(fetch)
		golden(t, "long.txt", b.String())
	})
}

func linesOfJSON(t *testing.T, out string) {
	t.Helper()
	for l := range strings.Lines(out) {
		var v struct{ Time time.Time }
		if err := json.Unmarshal([]byte(l), &v); err != nil || v.Time.IsZero() {
			t.Errorf("%v: %s", err, l)
		}
	}
}

func TestNoRawControls(t *testing.T) {
	for _, format := range []string{"text", "json"} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			c := New(Options{Stderr: &b, Progress: "plain", LogFormat: format})
			build(c)
			c.Fail(errBuild)
			if i := strings.IndexAny(b.String(), "\x00\x1b\r\u009b\u202e"); i >= 0 {
				t.Errorf("%s: %q", format, b.String()[i:])
			}
			if !utf8.ValidString(b.String()) {
				t.Errorf("%s: not UTF-8", format)
			}
		})
	}
}

func TestColorOfAFile(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o := Options{Stderr: f}
	if o.live() || WantsColor("auto", f) {
		t.Errorf("a file is taken for a terminal: %v", o.live())
	}
	if columns, rows := Size(f); columns != 80 || rows != 24 {
		t.Errorf("size %d, %d", columns, rows)
	}
}

func TestConcurrentEmit(t *testing.T) {
	for _, progress := range []string{"plain", "tty"} {
		t.Run(progress, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScreen(t, 80, 10)
				c := New(Options{Stderr: s, Progress: progress, size: s.size})
				var wg sync.WaitGroup
				for i := range 20 {
					wg.Go(func() {
						object := fmt.Sprintf("object-%02d", i)
						c.Emit(event.Event{Object: object, Phase: event.Compile, State: event.Start})
						for n := range int64(50) {
							c.Emit(event.Event{Object: object, Phase: event.Compile, State: event.Progress, Done: n})
							time.Sleep(10 * time.Millisecond)
						}
						c.Log().Info("message of " + object)
						c.Emit(event.Event{Object: object, Phase: event.Compile, State: event.Done})
					})
				}
				wg.Wait()
				c.Close()
				for i := range 20 {
					want := fmt.Sprintf("object-%02d", i)
					if n := strings.Count(s.String(), "message of "+want); n != 1 {
						t.Errorf("%d messages of %s", n, want)
					}
				}
				if n := s.written(); n > 500 {
					t.Errorf("%d writes", n)
				}
			})
		})
	}
}
