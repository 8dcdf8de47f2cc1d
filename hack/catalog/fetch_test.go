package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is missing is cloned, what is there gets the newest commits.
func TestFetch(t *testing.T) {
	github := t.TempDir()
	config := filepath.Join(t.TempDir(), "gitconfig")
	if err := os.WriteFile(config, []byte("[url \"file://"+github+"/\"]\n\tinsteadOf = https://github.com/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	all := map[string]*clone{}
	known := forksData{Forks: []fork{{Fork: "openshift/driver", Upstream: "up/driver"}, {Fork: "openshift/other", Upstream: "up/driver"}}}
	for _, name := range append([]string{"openshift/driver", "openshift/other", "up/driver"}, calendarRepositories...) {
		all[name] = newClone(t, filepath.Join(github, name))
		all[name].commit("start", map[string]string{"README": name + "\n"})
	}
	clones := filepath.Join(t.TempDir(), "clones")
	var said bytes.Buffer
	for range 2 {
		said.Reset()
		if err := fetch(t.Context(), known, clones, &said); err != nil {
			t.Fatal(err)
		}
		if strings.Count(said.String(), "fetch ") != len(all) {
			t.Errorf("fetched\n%s", &said)
		}
		for name, c := range all {
			dir, err := gitDir(clones, name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := run(t.Context(), []string{dir}, "log", "-1", "--format=%s", "--all"); err != nil || got[0] != c.last() {
				t.Errorf("%s: %q, %v", name, got, err)
			}
			c.commit("more", map[string]string{"README": name + " again\n"})
		}
		if err := fetch(t.Context(), known, clones, &said); err != nil {
			t.Fatal(err)
		}
	}
	known.Forks = append(known.Forks, fork{Fork: "openshift/none", Upstream: "up/driver"})
	if err := fetch(t.Context(), known, clones, &said); err == nil || !strings.Contains(err.Error(), "fetch openshift/none") {
		t.Error(err)
	}
}

// last is the subject of the newest commit.
func (c *clone) last() string { return strings.TrimSpace(c.git("log", "-1", "--format=%s")) }
