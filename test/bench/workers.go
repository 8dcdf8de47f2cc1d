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
var split = []string{"windows_exporter", "ecr-credential-provider", "containerd-shim-runhcs-v1", "win-overlay", "win-bridge", "host-local", "kube-log-runner"}

// workers compiles programs by 1, 2 and 4 workers that share a registry alone: each job
// has caches of its own, empty ones, and one core, as a job of a pipeline has. The last step puts the
// payload together without compiling. More workers than cores share them all.
func (b *bench) workers(ctx context.Context) error {
	for _, n := range []int{1, 2, 4} {
		total, jobs, err := b.fanOut(ctx, n)
		if err != nil {
			return err
		}
		var work, longest time.Duration // of CPU, which is what a core is shared by
		for _, j := range jobs {
			work, longest = work+j.cpu, max(longest, j.cpu)
		}
		bound := max(work/time.Duration(min(n, runtime.NumCPU())), longest)
		b.table.add(fmt.Sprintf("%d programs by %d workers: time / the larger of all CPU by core and that of the longest job", len(split), n), seconds(bound), seconds(total), ratio(total, bound), atMost(1.15))
	}
	return nil
}

// fanOut is one run: its time, and what each job took.
func (b *bench) fanOut(ctx context.Context, workers int) (total time.Duration, jobs []usage, err error) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	cache := strings.TrimPrefix(server.URL, "http://") + "/cache"
	dir := filepath.Join(b.dir, "workers-"+strconv.Itoa(workers))
	defer os.RemoveAll(dir)
	cores := runtime.NumCPU()
	core := func(worker int) string {
		if workers > cores {
			return fmt.Sprintf("0-%d", cores-1)
		}
		return strconv.Itoa(worker)
	}
	jobs = make([]usage, len(split))
	failed := make([]error, workers)
	next := make(chan int)
	began := time.Now()
	var g sync.WaitGroup
	for w := range workers {
		g.Go(func() {
			for i := range next {
				u, err := measure(ctx, "taskset", "-c", core(w), "env", "GOCACHE="+filepath.Join(dir, "go-"+split[i]), "bin/bake", "build", split[i], "-q", "--plain-http", "--cache-to", cache, "--cache-dir", filepath.Join(dir, split[i]))
				jobs[i], failed[w] = u, errors.Join(failed[w], err)
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
