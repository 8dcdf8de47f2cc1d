// Package precheck_test runs `verify skew precheck` as its manifests run it: as
// their service account on a real API server, with their rules over what it
// serves. It has no code of its own.
package precheck_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/precheck"
	"github.com/winbake/winbake/test/await"
)

func known(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// judge is what `verify skew precheck` evaluates with.
func judge(t *testing.T, config *rest.Config) *precheck.Judge {
	t.Helper()
	return &precheck.Judge{Config: config, Catalog: known(t), Today: func() (string, error) { return "2026-11-21", nil }}
}

// serving is a running precheck.
type serving struct {
	url   string
	mu    sync.Mutex
	lines []string
}

// start serves until the test ends.
func start(t *testing.T, config *rest.Config, o precheck.Options) *serving {
	t.Helper()
	watch, err := precheck.Watch(config)
	if err != nil {
		t.Fatal(err)
	}
	o.Watch, o.Evaluate = watch, judge(t, config).Evaluate
	s := &serving{}
	o.Events = event.Func(func(e event.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.lines = append(s.lines, fmt.Sprintf("%s %s: %s", e.State, e.Object, e.Message))
	})
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- precheck.Serve(ctx, l, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return s
}

// log is what was said so far.
func (s *serving) log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// get asks an address of a running precheck; 0 where nobody answers.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// metrics are the series of winbake's that are served, with their values.
func metrics(t *testing.T, url string) map[string]string {
	t.Helper()
	code, body := get(t, url+"/metrics")
	if code != http.StatusOK {
		t.Fatalf("/metrics: %d %s", code, body)
	}
	all := map[string]string{}
	for line := range strings.Lines(body) {
		if i := strings.LastIndex(line, " "); strings.HasPrefix(line, "winbake_") {
			all[line[:i]] = strings.TrimSpace(line[i:])
		}
	}
	return all
}

var to = regexp.MustCompile(`^winbake_precheck_verdict\{.*to="([^"]*)"`)

// verdicts are the served verdicts by release.
func verdicts(t *testing.T, url string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for series, value := range metrics(t, url) {
		if m := to.FindStringSubmatch(series); m != nil {
			all[m[1]] = value
		}
	}
	return all
}

// awaitVerdict waits until the updates have a verdict, and no others are there.
func awaitVerdict(t *testing.T, url string, want map[string]string) {
	t.Helper()
	await.True(t, fmt.Sprintf("verdicts %v", want), func() bool {
		code, _ := get(t, url+"/readyz")
		return code == http.StatusOK && maps.Equal(verdicts(t, url), want)
	}, func() any { return metrics(t, url) })
}

// awaitWatches waits until it is told of each resource whether it's watched.
func awaitWatches(t *testing.T, url string) (watched []string) {
	t.Helper()
	const name = "winbake_precheck_watching{resource="
	await.True(t, "four watches", func() bool {
		n := 0
		watched = nil
		for series, value := range metrics(t, url) {
			if strings.HasPrefix(series, name) {
				n++
				if value == "1" {
					watched = append(watched, strings.Trim(strings.TrimPrefix(series, name), `"}`))
				}
			}
		}
		return n == 4
	})
	slices.Sort(watched)
	return watched
}
