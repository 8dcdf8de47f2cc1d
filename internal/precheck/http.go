package precheck

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

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
