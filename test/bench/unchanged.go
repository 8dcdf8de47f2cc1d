package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/build/pins"
)

// nothingChanged compares bake with A done again: each program is asked of
// the go command with warm caches and its output in place, then A packs as it
// did above.
func (b *bench) nothingChanged(ctx context.Context) error {
	if err := b.buildAll(ctx); err != nil { // warms and links, uncounted
		return err
	}
	began := time.Now()
	if err := b.buildAll(ctx); err != nil {
		return err
	}
	again := usage{wall: time.Since(began) + b.a.wall}
	ours, err := b.bake(ctx, runs, "payload", "-q", "--layout", filepath.Join(b.dir, "unchanged"))
	if err != nil {
		return err
	}
	b.table.add("nothing changed: time of A again / bake payload", seconds(again.wall), seconds(ours.wall), ratio(again.wall, ours.wall), atLeast(50))
	return nil
}

// bake measures a run that changes nothing, after one that isn't counted.
func (b *bench) bake(ctx context.Context, times int, args ...string) (least usage, err error) {
	if _, err := output(ctx, "bin/bake", args...); err != nil {
		return least, err
	}
	for i := range times {
		u, err := measure(ctx, "bin/bake", args...)
		if err != nil {
			return least, err
		}
		if i > 0 {
			u = least.least(u)
		}
		least = u
	}
	return least, nil
}

// buildAll runs go build for each program in its synthetic module, one after
// another.
func (b *bench) buildAll(ctx context.Context) error {
	file, err := pins.Load("versions.yaml")
	if err != nil {
		return err
	}
	for i := range file.Components {
		c := &file.Components[i]
		if !c.Program() {
			continue
		}
		if err := b.goBuild(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// goBuild leaves stamps out: they cost nothing, and change nothing when
// nothing changed.
func (b *bench) goBuild(ctx context.Context, c *pins.Component) error {
	dir := filepath.Join(b.dir, "modules", c.Name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, f := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join("versions.lock", c.Name, f))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f), data, 0o644); err != nil {
			return err
		}
	}
	cmd := command(ctx, "go", "build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-tags="+strings.Join(c.Tags, ","),
		"-ldflags=-w", "-o", "out.exe", c.BuildPackage())
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", c.Package, err, out)
	}
	return nil
}
