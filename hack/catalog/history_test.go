package main

import (
	"testing"
)

// patched is a fix that a fork carries.
func patched(base string, extra int) map[string]string {
	files := driver(base)
	code := files["pkg/driver/node.go"]
	for range extra {
		code += "// carried\n"
	}
	return map[string]string{"pkg/driver/node.go": code}
}

func TestWalk(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *repositories)
		want string
	}{
		"a rebase moves the basis": {func(w *repositories) {
			w.fork.commit("add Dockerfile", map[string]string{"Dockerfile.openshift": "FROM x\n"})
			w.fork.rebase("v1.1.0")
		}, "1.0.0 1.1.0"},
		"patches don't": {func(w *repositories) {
			w.fork.rebase("v1.1.0")
			w.fork.commit("carry a fix", patched("1.1.0", 8))
			w.fork.commit("carry another", patched("1.1.0", 30))
		}, "1.1.0"},
		"the makefile lags": {func(w *repositories) {
			w.fork.rebase("v1.1.0")
			w.fork.commit("forget the makefile", map[string]string{"Makefile": "VERSION?=v1.0.0\n"})
			w.fork.commit("later", map[string]string{"OWNERS": "me\n"})
		}, "1.1.0"},
		"a makefile alone is no rebase": {func(w *repositories) {
			w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
			w.fork.commit("edit the makefile", map[string]string{"Makefile": "VERSION?=v1.1.0\n"})
		}, "1.0.0"},
		// openshift/aws-ebs-csi-driver, release-4.22: v1.55.0 was merged and
		// reverted within a day, the ancestry says 1.55.0 ever since.
		"a reverted rebase": {func(w *repositories) {
			w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
			w.fork.revert(w.fork.rebase("v1.1.0"))
			w.fork.commit("later", map[string]string{"OWNERS": "you\n"})
		}, "1.0.0 1.1.0 1.0.0!"},
		// openshift/gcp-pd-csi-driver has upstream's v999.1.0 as an ancestor.
		"a sentinel tag": {func(w *repositories) {
			w.publish("v999.1.0", nil)
			w.publish("v1.2.0", driver("1.2.0"))
			w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
			w.fork.rebase("v999.1.0")
			w.fork.rebase("v1.2.0")
		}, "1.0.0 1.1.0 1.2.0"},
		// openshift/aws-ebs-csi-driver, release-4.10: the rebase was picked to
		// the branch as plain commits.
		"a rebase without ancestry": {func(w *repositories) {
			w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
			files := driver("1.1.0")
			files["docs/1.0.0.md"] = ""
			w.fork.commit("[release-4.10] rebase", files)
		}, "1.0.0 1.1.0"},
		// openshift/csi-driver-smb: one backport makes the code equal to that of
		// the next release.
		"a backport makes the code equal": {func(w *repositories) {
			w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
			w.fork.commit("backport", map[string]string{
				"pkg/driver/node.go":   driver("1.1.0")["pkg/driver/node.go"],
				"pkg/driver/n_test.go": driver("1.1.0")["pkg/driver/n_test.go"],
			})
		}, "1.0.0"},
		// openshift/secrets-store-csi-driver began on upstream's main, which has
		// no tags: releases are on branches.
		"a tree between releases": {func(w *repositories) {
			w.upstream.git("checkout", "-q", "--orphan", "main")
			w.upstream.commit("towards 1.2.0", map[string]string{"pkg/driver/new.go": "package driver\n\n// a\n// b\n"})
			w.fork.git("fetch", "-q", w.upstream.dir, "main:refs/remotes/up/main")
			w.fork.git("reset", "-q", "--hard", "up/main")
			w.fork.commit("start", map[string]string{"Makefile": "VERSION?=v0.9.0\n"})
		}, "unknown"},
		"release candidates and final names": {func(w *repositories) {
			w.publish("v1.2.0-rc1", driver("1.2.0"))
			w.upstream.git("tag", "v1.2.0", "v1.2.0-rc1")
			w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
			w.fork.rebase("v1.2.0-rc1")
		}, "1.0.0 1.2.0"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRepositories(t)
			c.do(w)
			w.fork.git("branch", "release-4.21")
			if got := bases(w.walk(t, "release-4.21")); got != c.want {
				t.Errorf("bases are %q, want %q", got, c.want)
			}
		})
	}
}

func TestWalkNamesWhatIsNearer(t *testing.T) {
	w := newRepositories(t)
	w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
	w.fork.commit("backport", map[string]string{"pkg/driver/node.go": driver("1.1.0")["pkg/driver/node.go"]})
	w.fork.git("branch", "release-4.21")
	steps := w.walk(t, "release-4.21")
	if got := steps[len(steps)-1].basis.nearer; got != "1.1.0" {
		t.Errorf("nearer is %q, want 1.1.0", got)
	}
	if got := steps[0].basis.nearer; got != "" {
		t.Errorf("before the backport nearer is %q", got)
	}
}

func TestWalkLeavesOutUpstreamsCommits(t *testing.T) {
	w := newRepositories(t)
	first := w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
	w.fork.rebase("v1.1.0")
	w.fork.git("branch", "release-4.21")
	steps := w.walk(t, "release-4.21")
	if len(steps) != 2 || steps[0].id != first {
		t.Errorf("steps are %v, want the fork's two commits", steps)
	}
}

func TestWalkOfNoBranch(t *testing.T) {
	if steps := newRepositories(t).walk(t, "release-5.0"); len(steps) != 0 {
		t.Errorf("a branch that there isn't has steps: %v", steps)
	}
}
