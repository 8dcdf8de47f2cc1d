package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
)

// oneFileChanged edits the smallest component in a copy of the project. In the
// archived format every other file's archive is known, and the layer is a copy
// of them. A flat layer is one stream: it is packed again, and no more than
// that.
func (b *bench) oneFileChanged(ctx context.Context) error {
	for _, c := range []struct {
		format, whole string
		goal          limit
	}{
		{"archived", "archived", atLeast(2)},
		// Beside the layer, bake starts, reads the lock and asks for the
		// toolchain: some 0.2 s.
		{"flat", "flat-gzip", atLeast(0.75)},
	} {
		whole, err := b.child(ctx, c.whole)
		if err != nil {
			return err
		}
		changed, err := b.change(ctx, c.format)
		if err != nil {
			return err
		}
		b.table.add("one file changed, "+c.format+": CPU of packing all / of bake payload", seconds(whole.cpu), seconds(changed.cpu), ratio(whole.cpu, changed.cpu), c.goal)
	}
	return nil
}

// change measures bake payload after an edit that follows a full run.
func (b *bench) change(ctx context.Context, format string) (usage, error) {
	project, cache := filepath.Join(b.dir, "project"), filepath.Join(b.dir, "cache")
	if err := b.copyProject(ctx, project, cache); err != nil {
		return usage{}, err
	}
	defer os.RemoveAll(cache)
	yaml := filepath.Join(project, "versions.yaml")
	args := []string{"payload", "-q", "-f", yaml, "--cache-dir", cache, "--format", format, "--layout", filepath.Join(b.dir, "changed")}
	if _, err := output(ctx, "bin/bake", args...); err != nil {
		return usage{}, err
	}
	sum, err := edit(filepath.Join(project, "payload/files/containerd_conf.toml"))
	if err != nil {
		return usage{}, err
	}
	if _, err := output(ctx, "bin/bake", "pin", "-q", "-f", yaml, "--cache-dir", cache, "containerd-config@"+sum); err != nil {
		return usage{}, err
	}
	return measure(ctx, "bin/bake", args...)
}

// copyProject copies what bake reads of the project, and its cache.
func (b *bench) copyProject(ctx context.Context, project, cache string) error {
	for _, dir := range []string{project, cache} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(project, "payload"), 0o755); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"-r", "versions.yaml", "versions.lock", project},
		{"-r", "payload/files", filepath.Join(project, "payload")},
	} {
		if _, err := output(ctx, "cp", args...); err != nil {
			return err
		}
	}
	_, err := output(ctx, "cp", "-a", b.cache, cache)
	return err
}

// edit adds a comment to a file and returns its new sha256.
func edit(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	data = append(data, "# changed\n"...)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), os.WriteFile(path, data, 0o644)
}
