package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files")

// calendarOf makes real repositories with the dates of patches.
func (w *repositories) calendarOf(t *testing.T, nightlies map[string]string) *calendar {
	t.Helper()
	text := "releases:\n"
	for _, z := range []string{"4.21.0", "4.21.1", "4.21.2"} {
		if nightlies[z] != "" {
			text += "  " + z + ": {assembly: {basis: {reference_releases: {x86_64: " + nightlies[z] + "}}}}\n"
		}
	}
	data := newClone(t, filepath.Join(w.clones, "openshift-eng/ocp-build-data"))
	data.commit("patches", map[string]string{"releases.yml": text})
	data.git("branch", "openshift-4.21")
	graph := newClone(t, filepath.Join(w.clones, "openshift/cincinnati-graph-data"))
	graph.now = time.Date(2024, 1, 20, 0, 0, 0, 0, time.UTC)
	graph.commit("channels/candidate-4.21: Promote 4.21.3", map[string]string{"README": "x\n"})
	cal, err := newCalendar(t.Context(), w.clones)
	if err != nil {
		t.Fatal(err)
	}
	return cal
}

// TestSurveyAndSave goes all the way over small repositories: a rebase inside
// the z-stream of 4.21, a reverted one in 4.22, and no branch for 4.23.
func TestSurveyAndSave(t *testing.T) {
	w := newRepositories(t)
	w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
	w.fork.git("checkout", "-q", "-b", "release-4.21")
	w.fork.now = time.Date(2024, 1, 9, 0, 0, 0, 0, time.UTC)
	w.fork.rebase("v1.1.0")
	w.fork.git("checkout", "-q", "-b", "release-4.22", "master")
	w.fork.revert(w.fork.rebase("v1.1.0"))
	cal := w.calendarOf(t, map[string]string{
		"4.21.0": "4.21.0-0.nightly-2024-01-02-000000",
		"4.21.1": "4.21.0-0.nightly-2024-01-08-120000",
		"4.21.2": "4.21.0-0.nightly-2024-01-16-000000",
	})
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS("testdata/before")); err != nil {
		t.Fatal(err)
	}
	found, err := survey(t.Context(), w.clones, w.f, []string{"4.21", "4.22", "4.23"}, cal)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time changes nothing
		if err := found.save(data, "4.22"); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"releases.yaml", "commits.yaml", "builds.yaml"} {
			text, err := os.ReadFile(filepath.Join(data, name))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, filepath.Join("testdata/after", name), string(text))
		}
	}
	sidecar := *found
	sidecar.fork.Name, sidecar.fork.Sidecar = "livenessprobe", true
	if err := sidecar.save(data, "4.21"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(data, "builds.yaml"))
	if err != nil || strings.Count(string(text), `openshift: "4.21"`) != 1 {
		t.Errorf("the sidecar's heads aren't in\n%s", text)
	}
}

// A release that OpenShift hasn't made yet: one row in releases.yaml, and branches.
func TestANewReleaseIsDataAlone(t *testing.T) {
	known, err := readForks(forksFile)
	if err != nil {
		t.Fatal(err)
	}
	w := newRepositoriesOf(t, known.Forks[0])
	w.fork.commit("start", map[string]string{"OWNERS": "me\n"})
	w.fork.git("checkout", "-q", "-b", "release-7.3")
	w.fork.rebase("v1.1.0")
	w.fork.commit("UPSTREAM: 12: fix a leak", map[string]string{"pkg/leak.go": "package pkg\n"})
	head := w.fork.commit("UPSTREAM: <carry>: owners", map[string]string{"OWNERS": "us\n"})
	w.calendarOf(t, nil)
	data := t.TempDir()
	if err := os.CopyFS(data, os.DirFS(dataDir)); err != nil {
		t.Fatal(err)
	}
	releases, err := os.OpenFile(filepath.Join(data, "releases.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = releases.WriteString("  - {openshift: \"7.3\", kubernetes: \"1.60\", kubeletSkew: 2, drivers: {}, evidence: [{source: made up}]}\n")
	if err := errors.Join(err, releases.Close()); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := generate(t.Context(), known, options{w.clones, data, []string{"aws-ebs"}}, &said); err != nil {
		t.Fatal(err)
	}
	c, err := load(data)
	if err != nil {
		t.Fatal(err)
	}
	if rows := c.Release("7.3").Drivers["aws-ebs"]; len(rows) != 1 || rows[0].Version != "1.1.0" {
		t.Errorf("7.3 ships %+v, want 1.1.0", rows)
	}
	if h := c.Build("aws-ebs").Head("7.3"); h == nil || h.Commit != head || h.Version != "1.1.0" || !slices.Equal(h.Picks, []string{"UPSTREAM: 12: fix a leak"}) {
		t.Errorf("the head of 7.3 is %+v, want %s", h, head)
	}
	if got, ok := c.ByCommit("aws-ebs", head); !ok || got.OpenShift != "7.3" {
		t.Errorf("the commit %s is %+v", head, got)
	}
	for _, want := range []string{"+ releases 7.3 drivers aws-ebs 1.1.0: ", "+ builds aws-ebs heads " + head + ": commit ", "+ commits aws-ebs " + head[:digits] + ": ", "- releases 4.20 drivers aws-ebs 1.45.0", "- builds aws-ebs heads 6c99b973a6a5ca0202d56b87119714b9ec4a5365: "} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("the diff doesn't say %q", want)
		}
	}
	if strings.Contains(said.String(), "azure") {
		t.Errorf("the diff speaks of drivers that weren't looked at")
	}
}

func TestEditRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "releases.yaml")
	change := func(*yaml.Node) error { return errors.New("changed") }
	for text, want := range map[string]string{"": "no YAML", "a: [": "no YAML", "commits: []": "it has no releases", "releases: []": "changed"} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := edit(path, "releases", change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if left, _ := os.ReadFile(path); string(left) != text {
			t.Errorf("%q became %q", text, left)
		}
	}
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s\nwant\n%s", golden, got, want)
	}
}

func TestNodeQuotesWhatWouldBeANumber(t *testing.T) {
	type row struct {
		B string `json:"commit"`
		A string `json:"a"`
		N *int   `json:"n,omitempty"`
	}
	list, err := node([]row{{"4.10", "123456789012", nil}, {"12345e678901", "1.2.3: x", nil}, {"", "null", nil}})
	if err != nil {
		t.Fatal(err)
	}
	flow(list)
	text, err := yaml.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	want := `- {commit: "4.10", a: "123456789012"}
- {commit: "12345e678901", a: '1.2.3: x'}
- {commit: "", a: "null"}
`
	if string(text) != want {
		t.Errorf("rendered\n%s, want\n%s", text, want)
	}
}
