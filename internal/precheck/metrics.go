package precheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// The metrics. Their names and labels are frozen: alerts and dashboards hold
// them. docs/precheck.md tells of each.
var (
	verdictDesc = desc("verdict", "The verdict on an offered update: 0 PASS, 2 WARN, 3 UNKNOWN, 4 BLOCK. UNKNOWN too once it's too old.", "from", "to", "minor")
	concernDesc = desc("concern", "What to know before an offered update: 0 nothing, 2 a warning asks for an act first, 3 it can't be told, 4 something breaks with the update, 5 something is broken already.", "from", "to", "minor")
	findingDesc = desc("findings", "Findings that aren't PASS, of an offered update.", "from", "to", "minor", "id", "severity")
	targetsDesc = desc("targets", "Updates that were judged.")
	endDesc     = desc("last_evaluation_timestamp_seconds", "When the last evaluation ended, well or badly; 0 before the first.")
	successDesc = desc("last_success_timestamp_seconds", "When the last evaluation that succeeded ended; 0 before the first.")
	tookDesc    = desc("last_evaluation_duration_seconds", "How long the last evaluation took.")
	okDesc      = desc("last_evaluation_success", "1 where the last evaluation succeeded.")
	staleDesc   = desc("stale_after_seconds", "The age from which a verdict is UNKNOWN.")
	countDesc   = desc("evaluations_total", "Evaluations so far, by how they ended: success or error.", "result")
	watchDesc   = desc("watching", "1 where changes of a resource are watched, 0 where they're met by the interval alone.", "resource")
	catalogDesc = desc("catalog_timestamp_seconds", "The day that the catalog is of.")
	buildDesc   = desc("build_info", "The version of verify.", "version")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("winbake_precheck_"+name, help, labels, nil)
}

// registry has the state's metrics and those of the process.
func registry(s *state) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(s, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Describe implements prometheus.Collector.
func (s *state) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{verdictDesc, concernDesc, findingDesc, targetsDesc, endDesc, successDesc, tookDesc, okDesc, staleDesc, countDesc, watchDesc, catalogDesc, buildDesc} {
		out <- d
	}
}

// Collect implements prometheus.Collector. Series are made again for each scrape,
// so those of releases that are no longer offered go.
func (s *state) Collect(out chan<- prometheus.Metric) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	targets := s.targets()
	from := ""
	if s.answer != nil {
		from = s.answer.From
		if day, err := time.Parse(time.DateOnly, s.answer.CatalogAsOf); err == nil {
			gauge(catalogDesc, float64(day.Unix()))
		}
	}
	for _, t := range targets {
		gauge(verdictDesc, float64(t.Verdict), from, t.To, t.Minor)
		gauge(concernDesc, float64(t.Concern), from, t.To, t.Minor)
		for f, n := range t.Findings {
			gauge(findingDesc, float64(n), from, t.To, t.Minor, f.ID, f.Severity.String())
		}
	}
	gauge(targetsDesc, float64(len(targets)))
	gauge(endDesc, seconds(s.last.ended))
	gauge(successDesc, seconds(s.success))
	gauge(tookDesc, s.last.took.Seconds())
	gauge(okDesc, number(!s.last.ended.IsZero() && s.last.err == nil))
	gauge(staleDesc, s.stale.Seconds())
	gauge(buildDesc, 1, s.version)
	for _, result := range slices.Sorted(maps.Keys(s.counts)) {
		out <- prometheus.MustNewConstMetric(countDesc, prometheus.CounterValue, s.counts[result], result)
	}
	for resource, on := range s.watched {
		gauge(watchDesc, number(on), resource)
	}
}

// seconds since 1970; 0 for the zero value.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func (t *Target) sorted() []Finding {
	return slices.SortedFunc(maps.Keys(t.Findings), func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity, a.Severity), cmp.Compare(a.ID, b.ID))
	})
}

const (
	// patience is how long a scrape that is under way may take when the process
	// is told to end. Kubernetes gives it 30 seconds.
	patience = 5 * time.Second
	// headerTime bounds how long a client may take to say what it wants.
	headerTime = 5 * time.Second
	// scrapes is how many may be under way at once; Prometheus makes one.
	scrapes = 4
)

func (s *state) serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s.handler(), ReadHeaderTimeout: headerTime, IdleTimeout: 2 * time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve metrics: %w", err)
	case <-ctx.Done():
	}
	// ctx is done: what is under way has a time of its own.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if err := server.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("stop serving: %w", err)
	}
	return nil
}

func (s *state) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry(s), promhttp.HandlerOpts{MaxRequestsInFlight: scrapes}))
	mux.HandleFunc("GET /healthz", probe(s.healthy, "evaluations don't come to an end"))
	mux.HandleFunc("GET /readyz", probe(s.ready, "there was no evaluation yet"))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "verify skew precheck: /metrics, /healthz, /readyz")
	})
	return mux
}

// probe answers a kubelet.
func probe(well func() bool, otherwise string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !well() {
			http.Error(w, otherwise, http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}
