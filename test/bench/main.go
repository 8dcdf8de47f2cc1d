// Command bench measures bake and verify against the usual ways of doing the
// same, on the real payload. It fails on ratios, which are taken within one
// run; seconds are printed and decide nothing. It isn't for finding out where
// time goes: the packages have benchmarks for that.
//
// With -cluster it measures the reader of live clusters instead, on a real API
// server that it starts and fills.
//
// Each piece of work runs in a process of its own, and its CPU time and peak
// memory are the kernel's figures for that process and its children.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/winbake/winbake/test/support/document"
)

func main() {
	out := flag.String("write", "", "write the table into this document, between its markers")
	only := flag.String("part", "", "measure one part alone: proofs or workers")
	live := flag.Bool("cluster", false, "measure the reader of live clusters instead, on an API server")
	child := flag.String("child", "", "internal: the work that this process does")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := start(ctx, *out, *child, *only, *live)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, out, child, part string, live bool) error {
	switch {
	case child != "":
		return work(ctx, child, flag.Arg(0), flag.Arg(1))
	case live:
		t, steps, err := cluster(ctx)
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		return finish(t, out, "bench cluster", t.String()+"\n"+growth(steps))
	}
	dir, err := os.MkdirTemp("", "winbake-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir}
	if part != "" {
		measured := map[string]func(context.Context) error{"proofs": b.proofs, "workers": b.workers}[part]
		if measured == nil {
			return fmt.Errorf("there is no part %q", part)
		}
		err := measured(ctx)
		return errors.Join(err, finish(&b.table, "", "", b.table.String()))
	}
	if err := b.run(ctx); err != nil {
		return err
	}
	return finish(&b.table, out, "bench", b.table.String())
}

// finish prints and writes down what was measured, and tells whether it is
// enough.
func finish(t *table, out, name, text string) error {
	fmt.Print(text)
	if out != "" {
		if err := document.Insert(out, name, text); err != nil {
			return err
		}
	}
	if n := t.missed(); n > 0 {
		return fmt.Errorf("%d goals were missed", n)
	}
	return nil
}

// bench is one run.
type bench struct {
	dir    string // removed at the end
	cache  string // bake's
	inputs []input
	table  table
	a      usage // baseline A, packing alone
}

func (b *bench) run(ctx context.Context) error {
	if err := b.load(ctx); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{
		b.packing, b.nothingChanged, b.oneFileChanged, b.memory, b.verify, b.manifests, b.templates, b.proofs, b.workers,
	} {
		if err := part(ctx); err != nil {
			return errors.Join(err, ctx.Err())
		}
	}
	return nil
}
