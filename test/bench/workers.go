package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// split are programs that workers compile, the heaviest first as bake list --to-compile
// has them.
var split = []string{"containerd-shim-runhcs-v1", "win-overlay", "win-bridge", "host-local", "kube-log-runner"}

// workers compiles programs by 1, 2 and 4 workers that share a registry alone: each job
// has caches of its own, empty ones, and one core, as a job of a pipeline has. The last step puts the
// payload together without compiling. More workers than cores take as long as one a core.
func (b *bench) workers(ctx context.Context) error {
	var work, longest time.Duration
	for _, n := range []int{1, 2, 4} {
		total, jobs, err := b.fanOut(ctx, n)
		if err != nil {
			return err
		}
		if n == 1 {
			for _, j := range jobs {
				work, longest = work+j, max(longest, j)
			}
		}
		bound := max(work/time.Duration(min(n, runtime.NumCPU())), longest)
		b.table.add(fmt.Sprintf("%d programs by %d workers: time / the larger of all work by core and the longest job", len(split), n), seconds(bound), seconds(total), ratio(total, bound), atMost(1.15))
	}
	return nil
}

// fanOut is one run: its time, and that of each job.
func (b *bench) fanOut(ctx context.Context, workers int) (total time.Duration, jobs []time.Duration, err error) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	cache := strings.TrimPrefix(server.URL, "http://") + "/cache"
	dir := filepath.Join(b.dir, "workers-"+strconv.Itoa(workers))
	defer os.RemoveAll(dir)
	jobs = make([]time.Duration, len(split))
	failed := make([]error, workers)
	next := make(chan int)
	began := time.Now()
	var g sync.WaitGroup
	for w := range workers {
		g.Go(func() {
			for i := range next {
				start := time.Now()
				_, err := output(ctx, "taskset", "-c", strconv.Itoa(w%runtime.NumCPU()), "env", "GOCACHE="+filepath.Join(dir, "go-"+split[i]), "bin/bake", "build", split[i], "-q", "--plain-http", "--cache-to", cache, "--cache-dir", filepath.Join(dir, split[i]))
				jobs[i], failed[w] = time.Since(start), errors.Join(failed[w], err)
			}
		})
	}
	for i := range split {
		next <- i
	}
	close(next)
	g.Wait()
	if err := errors.Join(failed...); err != nil {
		return 0, nil, err
	}
	_, err = output(ctx, "bin/bake", "payload", "-q", "--plain-http", "--cache-from", cache, "--cache-trust", "--no-compile", "--only", strings.Join(split, ","),
		"--cache-dir", filepath.Join(dir, "last"), "--layout", filepath.Join(dir, "image"))
	return time.Since(began), jobs, err
}
