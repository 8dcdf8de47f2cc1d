package main

import (
	"context"
	"os"
	"path/filepath"
)

// runs is how often short work is measured: the least figures count, on both
// sides alike.
const runs = 3

// child runs one piece of work in a process of its own, into a new folder.
func (b *bench) child(ctx context.Context, name string) (usage, error) {
	dir := filepath.Join(b.dir, name)
	if err := os.RemoveAll(dir); err != nil {
		return usage{}, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return usage{}, err
	}
	defer os.RemoveAll(dir) // hundreds of MB
	if err := prepare(name, b.inputs, dir); err != nil {
		return usage{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return usage{}, err
	}
	u, err := measure(ctx, self, "-child", name, b.list(), dir)
	if err != nil {
		return u, err
	}
	u.size, err = treeSize(filepath.Join(dir, "layout"))
	return u, err
}

// children runs the works in turn, several times.
func (b *bench) children(ctx context.Context, names ...string) (map[string]usage, error) {
	least := map[string]usage{}
	for i := range runs {
		for _, name := range names {
			u, err := b.child(ctx, name)
			if err != nil {
				return nil, err
			}
			if i > 0 {
				u = least[name].least(u)
			}
			least[name] = u
		}
	}
	return least, nil
}

// packing compares ways to pack the same files; compilers aside.
func (b *bench) packing(ctx context.Context) (err error) {
	// A takes a minute: once has to do.
	if b.a, err = b.child(ctx, "A"); err != nil {
		return err
	}
	got, err := b.children(ctx, "archived", "B", "flat-gzip", "flat-zstd")
	if err != nil {
		return err
	}
	b.compare("archived", "A", b.a, got["archived"], 8, 1.08)
	b.compare("flat, gzip", "B", got["B"], got["flat-gzip"], 2, 1)
	b.compare("flat, zstd", "B", got["B"], got["flat-zstd"], 4, 1)
	return nil
}

func (b *bench) compare(what, name string, base, ours usage, cpu, size float64) {
	b.table.add("pack, "+what+": CPU of "+name+" / ours", seconds(base.cpu), seconds(ours.cpu), ratio(base.cpu, ours.cpu), atLeast(cpu))
	b.table.add("pack, "+what+": size of ours / "+name, megabytes(base.size), megabytes(ours.size),
		float64(ours.size)/float64(base.size), atMost(size))
}

// treeSize sums the files below dir.
func treeSize(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n += info.Size()
		return nil
	})
	return n, err
}
