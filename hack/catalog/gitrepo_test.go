package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// clone is a real git repository with a work tree, made by a test. Every commit
// is an hour after the one before it, so that all ids are always the same.
type clone struct {
	t   *testing.T
	dir string
	now time.Time
}

func newClone(t *testing.T, dir string) *clone {
	t.Helper()
	c := &clone{t, dir, time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.git("init", "-q", "-b", "master")
	return c
}

// git runs git in the work tree and returns what it prints.
func (c *clone) git(args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir = c.dir
	date := c.now.Format(time.RFC3339)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE="+date)
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files ("" removes one) and commits them.
func (c *clone) commit(subject string, files map[string]string) string {
	c.t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(c.dir, name)
		if files[name] == "" {
			c.git("rm", "-q", name)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			c.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			c.t.Fatal(err)
		}
		c.git("add", name)
	}
	c.now = c.now.Add(time.Hour)
	c.git("commit", "-q", "--allow-empty", "-m", subject)
	return c.git("rev-parse", "HEAD")
}

// release commits files and tags the commit.
func (c *clone) release(tag string, files map[string]string) {
	c.t.Helper()
	c.commit("release "+tag, files)
	c.git("tag", tag)
}

// rebase merges an upstream tag as OpenShift does: all of upstream's files, the
// fork's own beside them, both as parents.
func (c *clone) rebase(tag string) string {
	c.t.Helper()
	c.now = c.now.Add(time.Hour)
	c.git("merge", "-q", "--no-ff", "-X", "theirs", "-m", "Merge pull request: rebase "+tag, tag)
	return c.git("rev-parse", "HEAD")
}

// revert undoes a merge, which stays an ancestor.
func (c *clone) revert(merge string) {
	c.t.Helper()
	c.now = c.now.Add(time.Hour)
	c.git("revert", "-m", "1", "--no-edit", merge)
}

// driver are the files of a driver's release: code, and what goes with it.
func driver(version string) map[string]string {
	code := "package driver\n\n"
	for i := range 10 {
		code += fmt.Sprintf("// line %d of %s\n", i, version)
	}
	return map[string]string{
		"cmd/main.go":             "package main\n",
		"pkg/driver/node.go":      code,
		"go.mod":                  "module example.com/driver // " + version + "\n",
		"deploy/driver.yaml":      "image: driver:" + version + "\n",
		"Makefile":                "VERSION?=v" + version + "\n",
		"pkg/driver/n_test.go":    "package driver // " + version + "\n",
		"docs/" + version + ".md": "notes\n",
	}
}

var makefile = struct{ File, Find string }{"Makefile", `(?m)^VERSION\?=v?([0-9.]+)`}

// repositories are a fork and its upstream below one folder of clones.
type repositories struct {
	clones         string
	upstream, fork *clone
	f              fork
}

func newRepositories(t *testing.T) *repositories {
	t.Helper()
	return newRepositoriesOf(t, fork{Name: "aws-ebs", Build: "driver", Fork: "openshift/driver", Upstream: "up/driver", Since: "4.21", Version: makefile})
}

func newRepositoriesOf(t *testing.T, f fork) *repositories {
	t.Helper()
	w := &repositories{clones: t.TempDir(), f: f}
	w.upstream = newClone(t, filepath.Join(w.clones, f.Upstream))
	w.upstream.release("v1.0.0", driver("1.0.0"))
	w.upstream.release("v1.1.0", driver("1.1.0"))
	w.fork = newClone(t, filepath.Join(w.clones, f.Fork))
	w.fork.now = w.upstream.now
	w.fork.git("fetch", "-q", "--tags", w.upstream.dir, "master:refs/remotes/up/master")
	w.fork.git("reset", "-q", "--hard", "v1.0.0")
	return w
}

// publish makes a release upstream and brings it to the fork.
func (w *repositories) publish(tag string, files map[string]string) {
	w.upstream.t.Helper()
	w.upstream.release(tag, files)
	w.fork.git("fetch", "-q", "--tags", w.upstream.dir)
}

// walk surveys one branch of the fork.
func (w *repositories) walk(t *testing.T, branch string) []step {
	t.Helper()
	r, err := open(t.Context(), filepath.Join(w.fork.dir, ".git"), filepath.Join(w.upstream.dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	meter, err := newMeasurer(t.Context(), r, w.f)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := (&walker{repo: r, meter: meter, seen: map[string]basis{}}).walk(t.Context(), branch)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// bases are the versions of steps, runs joined.
func bases(steps []step) string {
	var out []string
	for _, in := range intervals(steps) {
		v := in.first.basis.version
		if v == "" {
			v = "unknown"
		}
		if in.reverts {
			v += "!"
		}
		out = append(out, v)
	}
	return strings.Join(out, " ")
}
