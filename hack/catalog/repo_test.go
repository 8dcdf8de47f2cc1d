package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestGitDir(t *testing.T) {
	clones := t.TempDir()
	for _, dir := range []string{"o/bare/objects", "o/mirror.git/objects", "o/tree/.git/objects", "o/empty"} {
		if err := os.MkdirAll(filepath.Join(clones, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"o/bare": "o/bare", "o/mirror": "o/mirror.git", "o/tree": "o/tree/.git"} {
		if got, err := gitDir(clones, name); err != nil || got != filepath.Join(clones, want) {
			t.Errorf("gitDir(%s) is %s, %v", name, got, err)
		}
	}
	_, err := gitDir(clones, "o/empty")
	if err == nil || !strings.Contains(err.Error(), "git clone --mirror https://github.com/o/empty ") {
		t.Errorf("a missing clone gives %v, want the command that makes it", err)
	}
}

func TestTreeLeavesOutVendorAndSubmodules(t *testing.T) {
	w := newRepositories(t)
	w.fork.commit("vendor", map[string]string{"vendor/x/x.go": "package x\n", "pkg/vendor/y.go": "package y\n", "ü/ö.go": "package z\n"})
	w.fork.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",release-tools")
	w.fork.commit("submodule", nil)
	w.fork.git("branch", "release-4.21")
	r, err := open(t.Context(), filepath.Join(w.fork.dir, ".git"), filepath.Join(w.upstream.dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.tree(t.Context(), w.fork.git("rev-parse", "release-4.21"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"go.mod": true, "pkg/vendor/y.go": true, "ü/ö.go": true, "vendor/x/x.go": false, "release-tools": false,
	} {
		if _, ok := got[path]; ok != want {
			t.Errorf("%s is in the tree: %v, want %v", path, ok, want)
		}
	}
}

func TestLinesAndFile(t *testing.T) {
	w := newRepositories(t)
	w.fork.commit("patch", map[string]string{"pkg/driver/node.go": "package driver\n"})
	r, err := open(t.Context(), filepath.Join(w.fork.dir, ".git"), filepath.Join(w.upstream.dir, ".git"))
	if err != nil {
		t.Fatal(err)
	}
	n, err := r.lines(t.Context(), "refs/tags/v1.0.0", w.fork.git("rev-parse", "master"), []string{"pkg/driver/node.go"})
	if err != nil || n != 11 {
		t.Errorf("%d lines differ, %v; want the 11 that were removed", n, err)
	}
	if n, err := r.lines(t.Context(), "refs/tags/v1.0.0", "", nil); n != 0 || err != nil {
		t.Errorf("without paths %d lines differ, %v", n, err)
	}
	if s, err := r.file(t.Context(), "refs/tags/v1.0.0", "Makefile"); s != "VERSION?=v1.0.0" || err != nil {
		t.Errorf("the file is %q, %v", s, err)
	}
	if s, err := r.file(t.Context(), "refs/tags/v1.0.0", "nothing"); s != "" || err != nil {
		t.Errorf("a missing file is %q, %v", s, err)
	}
	if _, err := r.file(t.Context(), "refs/tags/v7", "Makefile"); err == nil {
		t.Error("a file of a missing commit is no error")
	}
}

func TestSurveyStops(t *testing.T) {
	w := newRepositories(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := survey(ctx, w.clones, w.f, []string{"4.21"}, &calendar{}); err == nil {
		t.Error("a cancelled survey goes on")
	}
}
