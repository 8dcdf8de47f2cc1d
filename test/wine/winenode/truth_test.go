package winenode

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Wine's stop leaves the process and its pipes: stopped is state, process and
// pipes. csi-proxy's own handler returns without ending the process.
func TestStopLeavesTheProcess(t *testing.T) {
	t.Parallel()
	p := startProxy(t, CSIProxy11)
	p.must(t, "sc.exe stop csi-proxy")
	if r := run(t, p.ssh, "", "sc query csi-proxy"); !strings.Contains(r.stdout, "STOPPED") {
		t.Errorf("sc query says %q", r.stdout)
	}
	if len(p.running(t)) != 1 {
		t.Errorf("%+v runs, want the one process still", p.running(t))
	}
	p.waitForPipes(t)
}

// The list of what ran where names tests and steps that there are, in every row.
func TestTruthNamesWhatThereIs(t *testing.T) {
	list := readText(t, "../../../docs/windows-truth.md")
	var sources strings.Builder
	for _, dir := range []string{".", "../../e2e", "../node", "../../../internal/windows/agent", "../../../internal/windows/imagecheck", "../../../packer/plugin/provisioner/node"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), "_test.go") {
				sources.WriteString(readText(t, dir+"/"+e.Name()))
			}
		}
	}
	tests := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(list, -1)
	for _, m := range tests {
		if !strings.Contains(sources.String(), "func "+m[1]+"(") {
			t.Errorf("there is no test %s", m[1])
		}
	}
	if rows := checkRows(t, list); rows < 40 {
		t.Errorf("the list has %d rows", rows)
	}
	pipeline := readText(t, "../../../ci/github/windows.yaml")
	named := map[string]bool{}
	for _, m := range quoted.FindAllStringSubmatch(list, -1) {
		named[m[1]] = true
		if !strings.Contains(pipeline, "- name: "+m[1]+"\n") {
			t.Errorf("the Windows pipeline has no step %q", m[1])
		}
	}
	_, node, _ := strings.Cut(pipeline, "\n  node:\n")
	for _, m := range regexp.MustCompile(`- name: (.+)`).FindAllStringSubmatch(node, -1) {
		if !named[m[1]] && m[1] != "fetch" && m[1] != "log" {
			t.Errorf("the list doesn't have the step %q", m[1])
		}
	}
}

var quoted = regexp.MustCompile(`"([^"]+)"`)

// onWindows are what a row says of Windows instead of a step's name.
var onWindows = []string{"no step", "the same step", "the same steps", "the steps for a disk and a share", "csi-proxy alone", "the step for "}

// checkRows looks at every row's two cells: what shows the claim, or that
// nothing does. It returns how many rows there are.
func checkRows(t *testing.T, list string) (rows int) {
	t.Helper()
	shown := regexp.MustCompile("`Test\\w+`")
	for line := range strings.Lines(list) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || len(cells) == 3 && strings.TrimSpace(cells[1]) == "Wine" {
			continue
		}
		rows++
		if len(cells) != 3 {
			t.Errorf("%d cells: %s", len(cells), line)
			continue
		}
		wine, windows := strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])
		if !shown.MatchString(wine) && wine != "no" && !strings.HasPrefix(wine, "no: ") {
			t.Errorf("which test shows it? %s", line)
		}
		if strings.HasPrefix(wine, "no: by a double") && !shown.MatchString(wine) {
			t.Errorf("which test has the double? %s", line)
		}
		if !quoted.MatchString(windows) && !slices.ContainsFunc(onWindows, func(s string) bool { return strings.HasPrefix(windows, s) }) {
			t.Errorf("which step shows it on Windows, or is there none? %s", line)
		}
	}
	return rows
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
