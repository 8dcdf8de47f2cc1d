//go:build e2e

// Package e2e bakes the full payload, as a release engineer would, and the older
// set from cold caches, and compares both with the digests that the pages give.
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

// clone is a fresh clone of the project.
type clone struct {
	root string // holds all that the clone has: itself, its home, its temporary files
	dir  string
	env  []string
}

// newClone is one that works with the user's caches: on a new machine they are
// empty, and what other steps have compiled isn't compiled again.
func newClone(t *testing.T, env ...string) clone {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "clone")
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "../..", dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	t.Cleanup(func() { makeWritable(root) })
	tmp := filepath.Join(root, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	return clone{root, dir, append([]string{"TMPDIR=" + tmp, "GOFLAGS="}, env...)}
}

// newColdClone is one with an empty home and empty caches.
func newColdClone(t *testing.T, env ...string) clone {
	t.Helper()
	c := newClone(t, env...)
	home := filepath.Join(c.root, "home")
	c.env = append(c.env, "HOME="+home, "XDG_CACHE_HOME="+home+"/.cache", "XDG_CONFIG_HOME="+home+"/.config",
		"GOPATH="+home+"/go", "GOCACHE="+home+"/.cache/go-build", "GOMODCACHE="+home+"/go/pkg/mod")
	return c
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

// published holds a digest to what a page says that anybody gets: it was read on
// another machine, so each run of this test proves the bytes once more.
func published(t *testing.T, page, digest string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(digest, "sha256:") || !strings.Contains(string(data), "_output/image@"+digest+"\n") {
		t.Errorf("the digest is %q, and %s gives another one: if pins or the packing were meant to change, write it there", digest, page)
	}
}

func TestFullPayload(t *testing.T) {
	first := newClone(t)
	out, _ := first.run(t, "make", "payload")
	digest := lastDigest(out)
	published(t, "README.md", digest)
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

	// The same bake on a machine without caches: building it again would prove nothing.
	bake, verify := first.keep(t, "bin/bake"), first.keep(t, "bin/verify")
	first.remove(t)
	const older = "examples/openshift-4.15/versions.yaml"
	second := newColdClone(t, "TZ=Pacific/Kiritimati", "GOMAXPROCS=3")
	out, _ = second.run(t, bake, "payload", "-f", older)
	published(t, "examples/README.md", lastDigest(out))
	second.run(t, verify, "payload", "_output/image", "-f", older)
}
