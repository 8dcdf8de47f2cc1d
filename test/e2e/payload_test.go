//go:build e2e

// Package e2e bakes the full payload from cold caches, as a release engineer
// on a new machine would, twice, and the older set once.
package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// clone is a fresh clone with an empty home and empty caches.
type clone struct {
	root string // holds all that the clone has: itself, its home, its temporary files
	dir  string
	env  []string
}

func newClone(t *testing.T, env ...string) clone {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "clone")
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "../..", dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	t.Cleanup(func() { makeWritable(root) })
	home := filepath.Join(root, "home")
	tmp := filepath.Join(root, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	return clone{root, dir, append([]string{
		"HOME=" + home, "TMPDIR=" + tmp, "XDG_CACHE_HOME=" + home + "/.cache", "XDG_CONFIG_HOME=" + home + "/.config",
		"GOPATH=" + home + "/go", "GOCACHE=" + home + "/.cache/go-build", "GOMODCACHE=" + home + "/go/pkg/mod", "GOFLAGS=",
	}, env...)}
}

// makeWritable lets a module cache be removed: it is read-only by design.
func makeWritable(root string) { _ = exec.Command("chmod", "-R", "u+w", root).Run() }

// remove gives back the disk that the clone takes, some 10 GB, before another
// one is made. What it took is printed.
func (c clone) remove(t *testing.T) {
	t.Helper()
	var size int64
	err := filepath.WalkDir(c.root, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	fmt.Printf("the clone with its caches: %d MB\n", size/1e6)
	makeWritable(c.root)
	if err := os.RemoveAll(c.root); err != nil {
		t.Error(err)
	}
}

// keep moves one of the clone's programs out of it and returns its new path.
func (c clone) keep(t *testing.T, program string) string {
	t.Helper()
	kept := filepath.Join(t.TempDir(), filepath.Base(program))
	if err := os.Rename(filepath.Join(c.dir, program), kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

// run runs a command in the clone and returns what it wrote.
func (c clone) run(t *testing.T, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	began := time.Now()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = c.dir
	// A make above this test would hand down its flags, -w among them.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") })
	cmd.Env = append(cmd.Env, c.env...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	err := cmd.Run()
	fmt.Printf("%s %s: %.0f s\n", name, strings.Join(args, " "), time.Since(began).Seconds())
	if err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, out.String(), log.String())
	}
	return out.String(), log.String()
}

func lastDigest(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	_, digest, _ := strings.Cut(lines[len(lines)-1], "@")
	return digest
}

func TestFullPayload(t *testing.T) {
	first := newClone(t)
	out, _ := first.run(t, "make", "payload")
	digest := lastDigest(out)
	if !strings.HasPrefix(digest, "sha256:") {
		t.Fatalf("make payload printed no digest:\n%s", out)
	}
	first.run(t, "bin/verify", "payload", "_output/image", "-f", "versions.yaml")
	checkStart(t, first)

	again, log := first.run(t, "make", "payload")
	if lastDigest(again) != digest {
		t.Errorf("the second run gave %s, the first %s", lastDigest(again), digest)
	}
	if strings.Contains(log, "compile  start") || strings.Contains(log, "pack     done") {
		t.Errorf("the second run compiled or packed:\n%s", log)
	}

	first.run(t, "bin/bake", "payload", "--format", "archived", "--layout", "_output/archived")
	first.run(t, "bin/verify", "payload", "_output/archived", "-f", "versions.yaml", "--format", "archived")

	// The same bake on a second machine: building it again would prove nothing.
	bake, verify := first.keep(t, "bin/bake"), first.keep(t, "bin/verify")
	first.remove(t)
	second := newClone(t, "TZ=Pacific/Kiritimati", "GOMAXPROCS=3")
	out, _ = second.run(t, bake, "payload")
	if lastDigest(out) != digest {
		t.Errorf("a second clone gave %s, the first %s", lastDigest(out), digest)
	}

	second.run(t, bake, "payload", "-f", "examples/openshift-4.15/versions.yaml")
	second.run(t, verify, "payload", "_output/image", "-f", "examples/openshift-4.15/versions.yaml")
}
