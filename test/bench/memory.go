package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// memory measures the peak of bake itself, compilers aside: the built programs
// are given as local files and brought into a cache of their own, uncounted.
// What is measured then finds every artifact and no layer.
func (b *bench) memory(ctx context.Context) error {
	dir, cache := filepath.Join(b.dir, "files"), filepath.Join(b.dir, "empty")
	if err := writeFileProject(b.inputs, dir); err != nil {
		return err
	}
	common := []string{"-q", "-f", filepath.Join(dir, "versions.yaml"), "--cache-dir", cache}
	for _, command := range []string{"lock", "build"} {
		if _, err := output(ctx, "bin/bake", append([]string{command}, common...)...); err != nil {
			return err
		}
	}
	for _, c := range []struct{ format, compression string }{{"archived", "gzip"}, {"flat", "gzip"}, {"flat", "zstd"}} {
		u, err := measure(ctx, "bin/bake", append([]string{"payload", "--format", c.format, "--compression", c.compression,
			"--layout", filepath.Join(b.dir, "memory")}, common...)...)
		if err != nil {
			return err
		}
		b.table.add("peak memory of bake payload, "+c.format+", "+c.compression+", layer not known", "", "",
			float64(u.peak)/1e6, limit{value: 150, unit: " MB"})
	}
	return os.RemoveAll(cache)
}

// writeFileProject writes a project that carries the inputs as they are.
func writeFileProject(inputs []input, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var s strings.Builder
	s.WriteString("apiVersion: winbake.dev/v1\nrelease: \"4.20\"\ngo: local\ncomponents:\n")
	for _, in := range inputs {
		if err := linkOrCopy(in.Path, filepath.Join(dir, in.Component)); err != nil {
			return err
		}
		fmt.Fprintf(&s, "  - {name: %s, file: %s, sha256: %s, payload: %s}\n", in.Component, in.Component, in.SHA256(), in.Payload)
	}
	return os.WriteFile(filepath.Join(dir, "versions.yaml"), []byte(s.String()), 0o644)
}

// linkOrCopy makes a second name of a file that nobody writes to, or a copy on
// another file system.
func linkOrCopy(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}
