//go:build e2e

// Package e2e bakes the full payload, and before a release the older set, as a release
// engineer would, and compares them with the digests that the pages give.
package e2e

import (
	"bytes"
	"fmt"
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
	dir string
	env []string
}

// newClone is one that works with the user's caches: on a new machine they are
// empty, and what other steps have compiled isn't compiled again. Where it is, and
// who runs it when, must not show in the bytes.
func newClone(t *testing.T) clone {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "clone")
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", "../..", dir).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	tmp := filepath.Join(root, "tmp")
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	return clone{dir, []string{"TMPDIR=" + tmp, "GOFLAGS=", "TZ=Pacific/Kiritimati", "GOMAXPROCS=3"}}
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

// published holds a digest to the one that a page says anybody gets. An earlier
// build wrote it there, so a build without caches shows the bytes once more.
func published(t *testing.T, page, digest string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../..", page))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(digest, "sha256:") || !strings.Contains(string(data), digest) {
		t.Errorf("the digest is %q, and %s gives another one: if pins or the packing were meant to change, write it there", digest, page)
	}
}

func TestFullPayload(t *testing.T) {
	c := newClone(t)
	out, _ := c.run(t, "make", "payload")
	digest := lastDigest(out)
	published(t, "README.md", digest)
	c.run(t, "bin/verify", "payload", "_output/image", "-f", "versions.yaml")
	checkStart(t, c)

	again, log := c.run(t, "make", "payload")
	if lastDigest(again) != digest {
		t.Errorf("the second run gave %s, the first %s", lastDigest(again), digest)
	}
	if strings.Contains(log, "compile  start") || strings.Contains(log, "pack     done") {
		t.Errorf("the second run compiled or packed:\n%s", log)
	}

	c.run(t, "bin/bake", "payload", "--format", "archived", "--layout", "_output/archived")
	c.run(t, "bin/verify", "payload", "_output/archived", "-f", "versions.yaml", "--format", "archived")
}
