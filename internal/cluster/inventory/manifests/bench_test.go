package manifests

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// The goal: 1,000 files with 4,000 documents in 2 s on one core, in 150 MB.
const (
	benchFiles = 1000
	goalTime   = 2 * time.Second
	goalBytes  = 150 << 20
)

// filler is a document of the size and shape that most manifests have.
func filler(kind string, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "---\n# Source: chart/templates/%d.yaml\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s-%d\n  labels:\n    app.kubernetes.io/name: %s\n    helm.sh/chart: \"thing-1.2.3\"\nrules:\n", i, kind, strings.ToLower(kind), i, kind)
	for j := range 40 {
		fmt.Fprintf(&b, "- apiGroups: [\"\"]\n  resources:\n  - nodes\n  - persistentvolumes%d\n  verbs: [get, list, watch]\n", j)
	}
	return b.String()
}

// writeBench writes the files of the benchmark: in each a driver, a workload
// and two that nobody wants.
func writeBench(tb testing.TB) string {
	tb.Helper()
	dir := tb.TempDir()
	for i := range benchFiles {
		name := fmt.Sprintf("name: smb-%d\n  namespace", i)
		text := strings.Replace(smb, "name: smb\n  namespace", name, 1) + "---\n" +
			strings.NewReplacer("DaemonSet", "Deployment", "name: smb\n  namespace", name).Replace(smb) + filler("ClusterRole", i) + filler("Role", i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.yaml", i)), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// run reads the folder on one core and gives the peak of the heap.
func run(tb testing.TB, path string) (peak uint64) {
	tb.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	stop, done := make(chan bool), make(chan uint64)
	go func() {
		var most uint64
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse+m.StackInuse)
			select {
			case <-stop:
				done <- most
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	c := kube.NewCollector(kube.Options{Catalog: drivers()})
	_, err := Read(tb.Context(), c, []string{path}, nil)
	close(stop)
	if most := <-done; most > before.HeapInuse {
		peak = most - before.HeapInuse
	}
	if err != nil {
		tb.Fatal(err)
	}
	if inv := c.Inventory(); len(inv.Problems) != 0 {
		tb.Fatal(inv.Problems[0])
	}
	return peak
}

func BenchmarkRead(b *testing.B) {
	dir := writeBench(b)
	b.ReportAllocs()
	var peak uint64
	for b.Loop() {
		peak = max(peak, run(b, dir))
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
	b.ReportMetric(float64(4*benchFiles)*float64(b.N)/b.Elapsed().Seconds(), "documents/s")
}

// BenchmarkLargeList reads one List of 50 MB of pods, as kubectl get -o yaml
// writes it.
func BenchmarkLargeList(b *testing.B) {
	var text strings.Builder
	text.WriteString("apiVersion: v1\nitems:\n")
	for i := 0; text.Len() < 50<<20; i++ {
		pod := strings.NewReplacer("DaemonSet", "Pod", "apps/v1", "v1", "name: smb\n  namespace", fmt.Sprintf("name: smb-%d\n  namespace", i)).Replace(smb)
		text.WriteString("- " + strings.ReplaceAll(pod, "\n", "\n  ") + "status:\n    conditions:\n")
		for j := range 10 {
			fmt.Fprintf(&text, "    - lastProbeTime: null\n      lastTransitionTime: \"2026-01-01T00:00:00Z\"\n      status: \"True\"\n      type: Condition%d\n", j)
		}
	}
	text.WriteString("kind: List\n")
	path := filepath.Join(b.TempDir(), "list.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	var peak uint64
	for b.Loop() {
		peak = max(peak, run(b, path))
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
	b.SetBytes(int64(text.Len()))
}

// Memory is what the goal says; time decides no test.
func TestMemory(t *testing.T) {
	if peak := run(t, writeBench(t)); peak > goalBytes {
		t.Errorf("%d MB of heap, want no more than %d", peak>>20, goalBytes>>20)
	}
}
