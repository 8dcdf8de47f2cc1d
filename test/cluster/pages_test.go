package cluster_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// transport is a RoundTripper that is a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// through sends the requests of a copy of config through f, which hands them on
// to next.
func through(config *rest.Config, f func(next http.RoundTripper, r *http.Request) (*http.Response, error)) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return transport(func(r *http.Request) (*http.Response, error) { return f(next, r) })
	})
	return config
}

// seen notes requests.
type seen struct {
	mu   sync.Mutex
	list []string
}

func (s *seen) wrap(config *rest.Config) *rest.Config {
	return through(config, func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		s.mu.Lock()
		s.list = append(s.list, r.Method+" "+r.URL.RequestURI())
		s.mu.Unlock()
		return next.RoundTrip(r)
	})
}

// count is how many of the requests hold all of the words.
func (s *seen) count(words ...string) int {
	n := 0
	for _, r := range s.list {
		found := true
		for _, w := range words {
			found = found && strings.Contains(r, w)
		}
		if found {
			n++
		}
	}
	return n
}

// startWithVolumes starts a server that has 22 volumes, and reads it.
func startWithVolumes(t *testing.T, args ...string) (*apiserver.Server, *inventory.Inventory) {
	t.Helper()
	s := apiserver.Start(t, args...)
	s.InstallOpenShift(t)
	s.Load(t, append([]string{openShift, linuxNodes(t)}, exampleFiles...)...)
	makeVolumes(t, s, 20)
	whole := read(t, cluster.Options{Config: s.Config})
	if n := whole.Read[inventory.Volumes].Count; n != 22 {
		t.Fatalf("%d volumes", n)
	}
	return s, whole
}

func TestPages(t *testing.T) {
	s, whole := startWithVolumes(t)
	t.Run("narrow", func(t *testing.T) { testNarrow(t, s, whole) })
	t.Run("of one object", func(t *testing.T) {
		var asked seen
		inv := read(t, cluster.Options{Config: asked.wrap(s.Config), PageSize: 1})
		if plain(t, inv) != plain(t, whole) {
			t.Errorf("%s\nin pages:\n%s", plain(t, whole), plain(t, inv))
		}
		if n := asked.count("/persistentvolumes?", "limit=1"); n != 22 {
			t.Errorf("22 volumes took %d requests: %q", n, asked.list)
		}
		for _, r := range asked.list {
			if !strings.HasPrefix(r, "GET ") || strings.Contains(r, "watch=") {
				t.Errorf("neither get nor list: %s", r)
			}
		}
	})
}

func TestExpiredPages(t *testing.T) {
	// A server keeps old lists for five minutes; this one for a second, and
	// none in memory, where 1.34 has them too.
	s, whole := startWithVolumes(t, "--etcd-compaction-interval=1s", "--feature-gates=ListFromCacheSnapshot=false")
	t.Run("once", func(t *testing.T) {
		e := expiry{server: s, times: 1}
		inv := read(t, cluster.Options{Config: through(s.Config, e.roundTrip), PageSize: 6})
		if plain(t, inv) != plain(t, whole) {
			t.Errorf("%s\nafter an expired page:\n%s", plain(t, whole), plain(t, inv))
		}
		if got := inv.Read[inventory.Volumes]; !got.Complete || got.Count != 22 || e.done != 1 {
			t.Errorf("%+v, %d lists expired", got, e.done)
		}
	})
	t.Run("always", func(t *testing.T) {
		e := expiry{server: s, times: 9}
		inv := read(t, cluster.Options{Config: through(s.Config, e.roundTrip), PageSize: 6})
		got := inv.Read[inventory.Volumes]
		if got.Complete || got.Count != 6 || !strings.HasPrefix(got.Reason, "the list changes faster than it can be read") {
			t.Errorf("a part is taken for whole: %+v", got)
		}
		if e.done != 2 {
			t.Errorf("%d lists expired", e.done)
		}
		if pods := inv.Read[inventory.Pods]; !pods.Complete {
			t.Errorf("other lists: %+v", pods)
		}
	})
}

// Of most pods nothing is read: only those of Windows nodes, those that aren't
// scheduled, and those of the drivers.
func testNarrow(t *testing.T, s *apiserver.Server, whole *inventory.Inventory) {
	var asked seen
	read(t, cluster.Options{Config: asked.wrap(s.Config)})
	for _, r := range asked.list {
		if strings.Contains(r, "/api/v1/pods?") && !strings.Contains(r, "spec.nodeName%3D") {
			t.Errorf("pods of all nodes: %s", r)
		}
	}
	if n := asked.count("/api/v1/pods?", "spec.nodeName%3Dwinworker-1"); n != 1 {
		t.Errorf("%d requests for the pods of the Windows node: %q", n, asked.list)
	}
	// The server's memory may be behind; then all pods are read.
	var all seen
	behind := through(all.wrap(s.Config), func(next http.RoundTripper, r *http.Request) (*http.Response, error) {
		if !strings.Contains(r.URL.RawQuery, "winworker-1") {
			return next.RoundTrip(r)
		}
		r = r.Clone(r.Context())
		query := r.URL.Query()
		query.Set("resourceVersion", "999999999")
		r.URL.RawQuery = query.Encode()
		answer, err := next.RoundTrip(r)
		if err == nil {
			answer.Header.Del("Retry-After") // client-go would ask ten times
		}
		return answer, err
	})
	if inv := read(t, cluster.Options{Config: behind}); plain(t, inv) != plain(t, whole) || !inv.Read[inventory.Pods].Complete {
		t.Errorf("%s\nfrom a server that is behind:\n%s", plain(t, whole), plain(t, inv))
	}
	if n := all.count("/api/v1/pods?", "limit=500"); n != 1 {
		t.Errorf("all pods were read %d times: %q", n, all.list)
	}
}

func makeVolumes(t *testing.T, s *apiserver.Server, n int) {
	t.Helper()
	const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: {name: more-%d}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: 1Gi}
  csi: {driver: csi.vsphere.vmware.com, volumeHandle: h}
---
`
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, volume, i)
	}
	s.LoadText(t, all.String())
}

// expiry holds the second page of the list of volumes back until the server has
// forgotten that list, some times.
type expiry struct {
	server *apiserver.Server
	times  int
	done   int
}

func (e *expiry) roundTrip(next http.RoundTripper, r *http.Request) (*http.Response, error) {
	if r.URL.Path != "/api/v1/persistentvolumes" || r.URL.Query().Get("continue") == "" || e.done == e.times {
		return next.RoundTrip(r)
	}
	client, err := kubeclient.New(e.server.Config)
	if err != nil {
		return nil, err
	}
	for {
		answer, err := next.RoundTrip(r.Clone(r.Context()))
		if err != nil {
			return nil, err
		}
		if answer.StatusCode == http.StatusGone {
			e.done++
			return answer, nil
		}
		answer.Body.Close()
		// What is compacted is older than the newest: something must change.
		note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "time-passes-"}}
		if _, err := client.CoreV1().ConfigMaps("default").Create(r.Context(), note, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
		time.Sleep(200 * time.Millisecond)
	}
}
