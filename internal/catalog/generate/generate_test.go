package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the golden files")

// calendarOf makes real repositories with the dates of patches.
func (w *world) calendarOf(t *testing.T, nightlies map[string]string) *calendar {
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
// the z-stream of 4.21, a reverted one in 4.22, and no other branch.
func TestSurveyAndSave(t *testing.T) {
	w := newWorld(t)
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
	found, err := survey(t.Context(), w.clones, w.f, cal)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	kept := "# kept by hand\n"
	if err := os.WriteFile(filepath.Join(data, "releases.yaml"), []byte(kept+`releases:
- openshift: "4.22"
  kubernetes: "1.35"
  kubeletSkew: 2
  drivers: {aws-ebs: [{version: 0.0.1, certainty: exact, evidence: [{source: old}]}], vsphere: [{version: 3.6.0, certainty: exact, evidence: [{source: other}]}]}
  evidence: [{source: by hand}]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	report(&said, found)
	if err := found.save(data); err != nil {
		t.Fatal(err)
	}
	compare(t, "testdata/report.golden", said.String())
	first := files(t, data)
	for name, text := range first {
		compare(t, filepath.Join("testdata", name), text)
	}
	if err := found.save(data); err != nil {
		t.Fatal(err)
	}
	for name, text := range files(t, data) {
		if text != first[name] {
			t.Errorf("saving %s twice changes it", name)
		}
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(text)
	}
	if len(out) != 2 {
		t.Fatalf("there are %d files, want releases.yaml and commits.yaml alone", len(out))
	}
	return out
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

func TestRenderQuotesWhatWouldBeANumber(t *testing.T) {
	type row struct {
		B string `json:"commit"`
		A string `json:"a"`
		N *int   `json:"n,omitempty"`
	}
	text, err := render([]row{{"4.10", "123456789012", nil}, {"12345e678901", "1.2.3: x", nil}, {"", "null", nil}}, func(*yaml.Node) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	want := `- {commit: "4.10", a: "123456789012"}
- {commit: "12345e678901", a: '1.2.3: x'}
- {commit: "", a: "null"}
`
	if text != want {
		t.Errorf("rendered\n%s, want\n%s", text, want)
	}
}

func TestReadRefusesUnknownFields(t *testing.T) {
	path := filepath.Join(t.TempDir(), "releases.yaml")
	if err := os.WriteFile(path, []byte("releases: [{openshift: \"4.8\", colour: blue}]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := read[releasesFile](path); err == nil || !strings.Contains(err.Error(), "colour") {
		t.Errorf("an unknown field gives %v", err)
	}
}

func TestReplaceLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	if err := replace(filepath.Join(dir, "missing", "x"), "", ""); err == nil {
		t.Error("writing into a missing folder is no error")
	}
	path := filepath.Join(dir, "x")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replace(path, "", "text"); err == nil {
		t.Error("replacing a folder is no error")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d entries are left, want the folder alone", len(entries))
	}
}

func TestMinors(t *testing.T) {
	got := strings.Join(minors(20), " ")
	if got != "4.20 4.21 4.22 4.23 5.0" {
		t.Errorf("minors are %s", got)
	}
}
