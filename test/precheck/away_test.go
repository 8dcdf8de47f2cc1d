package precheck_test

import (
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/precheck"
	"github.com/winbake/winbake/test/apiserver"
	"github.com/winbake/winbake/test/await"
)

const unknown = "3"

// testAway: a server that stops answering, comes back, and then forbids half.
func testAway(t *testing.T, s *apiserver.Server) {
	config := account(t, s)
	config.Timeout = 5 * time.Second
	p := start(t, config, precheck.Options{Interval: 100 * time.Millisecond, Settle: 10 * time.Millisecond, Stale: 20 * time.Second})
	var well map[string]string
	await.True(t, "verdicts that are known", func() bool {
		well = verdicts(t, p.url)
		return len(well) == 1 && well["4.20.3"] != "" && well["4.20.3"] != unknown
	})
	lost := map[string]string{"4.20.3": unknown}

	s.Pause()
	resumed := false
	defer func() {
		if !resumed {
			s.Resume()
		}
	}()
	await.True(t, "a failure", func() bool { return metrics(t, p.url)["winbake_precheck_last_evaluation_success"] == "0" })
	awaitVerdict(t, p.url, lost)
	if code, _ := get(t, p.url+"/healthz"); code != http.StatusOK {
		t.Errorf("/healthz is %d for what no restart fixes", code)
	}
	s.Resume()
	resumed = true
	awaitVerdict(t, p.url, well)

	a := newApplier(t, s)
	bindings := a.typed.RbacV1().ClusterRoleBindings()
	must(t, bindings.Delete(t.Context(), "winbake-precheck", metav1.DeleteOptions{}))
	// Which updates are offered isn't known any longer either.
	awaitVerdict(t, p.url, map[string]string{"": unknown})
	await.True(t, "what is forbidden is an answer, and no failure", func() bool {
		return metrics(t, p.url)["winbake_precheck_last_evaluation_success"] == "1"
	})
	must(t, a.apply(t.Context(), file(t, rendered(t), "cluster-role-binding")))
	awaitVerdict(t, p.url, well)
	if !strings.Contains(p.log(), "couldn't evaluate: ") {
		t.Errorf("nobody is told:\n%s", p.log())
	}
}

// testChange: what changes is met long before the interval.
func testChange(t *testing.T, s *apiserver.Server) {
	p := start(t, account(t, s), precheck.Options{Interval: time.Hour, Settle: 50 * time.Millisecond})
	await.True(t, "verdicts", func() bool { return verdicts(t, p.url)["4.20.3"] != "" })
	awaitWatches(t, p.url)
	offer(t, s, "4.19.13", "4.20.3")
	await.True(t, "the update that is offered now", func() bool { return verdicts(t, p.url)["4.19.13"] != "" })
	offer(t, s, "4.20.3")
	await.True(t, "the update gone that isn't offered any more", func() bool { return verdicts(t, p.url)["4.19.13"] == "" })
}

// offer has the cluster offer updates.
func offer(t *testing.T, s *apiserver.Server, releases ...string) {
	t.Helper()
	var updates []any
	for _, r := range releases {
		updates = append(updates, map[string]any{"version": r})
	}
	setStatus(t, s, "availableUpdates", updates)
}

// day is how many evaluations the default interval makes of one.
const day = int(24 * time.Hour / precheck.DefaultInterval)

// testMemory: what an evaluation needs it gives back.
func testMemory(t *testing.T, s *apiserver.Server) {
	p := start(t, account(t, s), precheck.Options{Interval: time.Millisecond, Settle: time.Millisecond, Stale: time.Minute})
	evaluations := func() string { return metrics(t, p.url)[`winbake_precheck_evaluations_total{result="success"}`] }
	// An evaluation that runs while the heap is read counts too, so the least of
	// many readings is what stays between evaluations.
	reach := func(n int) (least uint64, goroutines int) {
		least, goroutines = math.MaxUint64, math.MaxInt
		for i := range 20 {
			await.True(t, "evaluations", func() bool { return atLeast(evaluations(), n+i) })
			runtime.GC()
			runtime.GC() // what finalizers freed
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			least, goroutines = min(least, m.HeapAlloc), min(goroutines, runtime.NumGoroutine())
		}
		return least, goroutines
	}
	_, before := reach(10) // caches are filled
	first, _ := reach(day)
	second, after := reach(2 * day)
	t.Logf("heap after %d evaluations %d bytes, after twice as many %d", day, first, second)
	if ratio := float64(second) / float64(first); ratio > 1.15 {
		t.Errorf("after %d evaluations the heap holds %d bytes, after twice as many %.2f times that", day, first, ratio)
	}
	if after > before+10 {
		t.Errorf("%d goroutines, and %d after two days", before, after)
	}
}
