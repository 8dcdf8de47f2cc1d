package cluster_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/test/cluster/apiserver"
)

// Of a cluster without OpenShift and WMCO nothing is missing: it is known that
// it doesn't have them. The Role can't be granted there.
func testNoOpenShift(t *testing.T, s *apiserver.Server) {
	rights := documented(t)
	rights.Namespaced = nil
	inv := read(t, cluster.Options{Config: s.User(t, "plain", rights)})
	for r, cov := range inv.Read {
		none := slices.Contains([]inventory.Resource{inventory.ClusterVersion, inventory.Services, inventory.Pools, inventory.CSIDrivers,
			inventory.AdminGates, inventory.AdminAcks}, r)
		if !cov.Complete || none != (cov.Count == 0) {
			t.Errorf("%s: %+v", r, cov)
		}
	}
	if len(inv.Read) != 13 || len(inv.Problems) > 0 {
		t.Errorf("%d resources were read, with problems %+v", len(inv.Read), inv.Problems)
	}
}

// What can't be read at all is one fault that says what to do.
func testAway(t *testing.T, s *apiserver.Server) {
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>It works!</html>")) // the reader's trouble
	}))
	defer web.Close()
	empty := httptest.NewTLSServer(http.NotFoundHandler())
	defer empty.Close()
	for name, c := range map[string]struct {
		change func(*rest.Config)
		want   []string
	}{
		"nobody listens":     {func(c *rest.Config) { c.Host = "https://127.0.0.1:1" }, []string{"https://127.0.0.1:1: the API server doesn't answer", "connection refused"}},
		"no such name":       {func(c *rest.Config) { c.Host = "https://api.cluster.invalid:6443" }, []string{"doesn't answer", "api.cluster.invalid"}},
		"another authority":  {func(c *rest.Config) { c.CAData = nil }, []string{"doesn't answer", "certificate signed by unknown authority"}},
		"plain http":         {func(c *rest.Config) { c.Host, c.CAData = strings.Replace(c.Host, "https", "http", 1), nil }, []string{"no working API server answers"}},
		"a web page":         {func(c *rest.Config) { c.Host, c.CAData, c.Insecure = web.URL, nil, true }, []string{"no working API server answers"}},
		"an empty web":       {func(c *rest.Config) { c.Host, c.CAData, c.Insecure = empty.URL, nil, true }, []string{"no working API server answers"}},
		"wrong token":        {func(c *rest.Config) { c.BearerToken = "guessed" }, []string{"doesn't accept the credentials", "oc login"}},
		"no token":           {func(c *rest.Config) { c.BearerToken = "" }, []string{"doesn't accept the credentials", "system:anonymous"}},
		"forbidden disguise": {func(c *rest.Config) { *c = *s.User(t, "ann", apiserver.Rights{}); c.Impersonate.UserName = "eve" }, []string{"may not act as another", "--as"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := rest.CopyConfig(s.Config)
			c.change(config)
			f := refused(t.Context(), t, config)
			for _, want := range slices.Concat(c.want, []string{"fix: "}) {
				if !strings.Contains(f.Error(), want) {
					t.Errorf("no %q in:\n%v", want, f)
				}
			}
		})
	}
}

// A server that stops answering in the middle, for good or not.
func testSlow(t *testing.T, s *apiserver.Server) {
	// stopping makes the server stop once the list of nodes is asked for.
	stopping := func(stopped func()) *rest.Config {
		var once sync.Once
		return through(s.Config, func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
			if strings.HasPrefix(r.URL.Path, "/api/v1/nodes") {
				once.Do(func() { s.Pause(); stopped() })
			}
			return next.RoundTrip(r)
		})
	}
	t.Run("cancel", func(t *testing.T) {
		defer s.Resume()
		ctx, cancel := context.WithCancel(t.Context())
		// A read that doesn't stop when it is told to would wait for the paused server, to
		// the end of the test run.
		config := stopping(func() { time.AfterFunc(100*time.Millisecond, cancel) })
		_, err := cluster.Read(ctx, collector(t), cluster.Options{Config: config})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		defer s.Resume()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		f := refused(ctx, t, stopping(func() {}))
		if !errors.Is(f, context.DeadlineExceeded) || !strings.Contains(f.Error(), "within the time limit") {
			t.Errorf("%v", f)
		}
	})
	t.Run("request timeout", func(t *testing.T) {
		defer s.Resume()
		config := stopping(func() {})
		config.Timeout = 500 * time.Millisecond
		f := refused(t.Context(), t, config)
		if !strings.Contains(f.Error(), "took longer than 500ms") || !strings.Contains(f.Error(), "fix: --request-timeout") {
			t.Errorf("%v", f)
		}
	})
	t.Run("back again", func(t *testing.T) {
		inv := read(t, cluster.Options{Config: stopping(func() { time.AfterFunc(300*time.Millisecond, s.Resume) })})
		if got, want := plain(t, inv), plain(t, read(t, cluster.Options{Config: s.Config})); got != want {
			t.Errorf("%s\nwithout a pause:\n%s", got, want)
		}
	})
}
