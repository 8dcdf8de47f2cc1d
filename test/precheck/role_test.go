package precheck_test

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/precheck"
	"github.com/winbake/winbake/test/apiserver"
	"github.com/winbake/winbake/test/await"
)

// refusals are the requests that a server refuses.
type refusals struct {
	mu   sync.Mutex
	seen map[string]bool // method and path
}

// refusing is a config whose refused requests are seen.
func refusing(config *rest.Config) (*rest.Config, *refusals) {
	r := &refusals{seen: map[string]bool{}}
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(request)
			if err == nil && answer.StatusCode == http.StatusForbidden {
				r.mu.Lock()
				defer r.mu.Unlock()
				verb := "read"
				if request.URL.Query().Get("watch") != "" {
					verb = "watch"
				}
				r.seen[verb+" "+request.URL.Path] = true
			}
			return answer, err
		})
	})
	return config, r
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *refusals) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.seen))
}

// testRole: the role of the manifests is exactly what is used.
func testRole(t *testing.T, s *apiserver.Server) {
	s.HideVersion(t)
	all := rights(t)
	t.Run("all", func(t *testing.T) {
		config, refused := refusing(s.User(t, "all", all))
		p := start(t, config, precheck.Options{Interval: time.Hour, Settle: 10 * time.Millisecond})
		if watched := awaitWatches(t, p.url); len(watched) != 4 {
			t.Errorf("only %q are watched: %s", watched, p.log())
		}
		await.True(t, "an evaluation", func() bool { return len(verdicts(t, p.url)) > 0 })
		if got := refused.list(); len(got) > 0 {
			t.Errorf("refused: %q", got)
		}
		for series := range metrics(t, p.url) {
			if strings.Contains(series, `id="DATA002"`) {
				t.Errorf("something isn't read: %s\n%s", series, p.log())
			}
		}
	})
	for i, gone := range all.Each() {
		t.Run("no "+gone.String(), func(t *testing.T) {
			config, refused := refusing(s.User(t, fmt.Sprintf("without-%d", i), all.Without(gone)))
			p := start(t, config, precheck.Options{Interval: time.Hour, Settle: 10 * time.Millisecond})
			watched := awaitWatches(t, p.url)
			await.True(t, "an evaluation", func() bool { return len(verdicts(t, p.url)) > 0 })
			missed(t, gone, refused.list())
			if gone.Verb() == "watch" && (slices.Contains(watched, gone.Resources[0]) || len(watched) != 3) {
				t.Errorf("%q are watched", watched)
			}
			if gone.Verb() == "watch" && !strings.Contains(p.log(), "warning "+gone.Resources[0]+": changes can't be watched, and are met every 1h0m0s") {
				t.Errorf("nobody is told:\n%s", p.log())
			}
		})
	}
}

// missed holds the refusals to be of the one right, and there to be one.
func missed(t *testing.T, gone apiserver.Right, refused []string) {
	t.Helper()
	verb := "read "
	if gone.Verb() == "watch" {
		verb = "watch "
	}
	what := slices.Concat(gone.Resources, gone.NonResourceURLs)[0]
	if len(refused) == 0 {
		t.Error("nothing is refused: it isn't used")
	}
	for _, r := range refused {
		if !strings.HasPrefix(r, verb) || !strings.Contains(r, what) {
			t.Errorf("%s is refused too", r)
		}
	}
}

// The manifests grant what docs/clusterrole.yaml grants, watch on four
// resources, and the list that a watch begins with.
func TestRoleIsTheDocumentedOneAndWatch(t *testing.T) {
	src, err := os.ReadFile("../../docs/clusterrole.yaml")
	must(t, err)
	documented, err := apiserver.ParseRights(src)
	must(t, err)
	want := append(words(documented), "list clusterversions.config.openshift.io/version",
		"watch clusterversions.config.openshift.io/version", "watch csinodes.storage.k8s.io", "watch daemonsets.apps", "watch nodes")
	slices.Sort(want)
	if got := words(rights(t)); !slices.Equal(got, want) {
		t.Errorf("%s\nand documented are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// words are rights in order, wherever they hold: admin-acks is one object.
func words(r apiserver.Rights) []string {
	var out []string
	for _, one := range r.Each() {
		w := one.Verb() + " " + slices.Concat(one.Resources, one.NonResourceURLs)[0]
		if len(one.APIGroups) > 0 && one.APIGroups[0] != "" {
			w += "." + one.APIGroups[0]
		}
		out = append(out, strings.Join(append([]string{w}, one.ResourceNames...), "/"))
	}
	slices.Sort(out)
	return out
}
