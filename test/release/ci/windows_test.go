package ci

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"
)

const windowsFile = "../../../ci/github/windows.yaml"

func TestWindowsWorkflowLints(t *testing.T) {
	text := read(t, windowsFile)
	check := func(text string) []*actionlint.Error {
		l, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		errs, err := l.Lint(".github/workflows/windows.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		return errs
	}
	for _, e := range check(text) {
		t.Error(e)
	}
	if len(check(strings.Replace(text, "needs: build", "needs: bild", 1))) == 0 {
		t.Error("a job that needs one which isn't there passes")
	}
	uses := regexp.MustCompile(`(?m)^ *-? *uses: .*$`).FindAllString(text, -1)
	pinned := regexp.MustCompile(`uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, u := range uses {
		if !pinned.MatchString(u) {
			t.Errorf("%q isn't one of GitHub's own actions by full commit", strings.TrimSpace(u))
		}
	}
	if len(uses) != 4 {
		t.Errorf("%d uses of actions, want 4", len(uses))
	}
}

// windowsRuns are the scripts of a job of the workflow.
func windowsRuns(t *testing.T, job string) []string {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, windowsFile)), &w); err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, s := range w.Jobs[job].Steps {
		if s.Run != "" {
			runs = append(runs, s.Run)
		}
	}
	return runs
}

// The step that builds what goes to Windows is run here, on the component that
// is built the quickest, and leaves what the node's steps start.
func TestWindowsProgramsAreBuilt(t *testing.T) {
	runs := windowsRuns(t, "build")
	if len(runs) != 1 {
		t.Fatalf("%d steps, want 1", len(runs))
	}
	clone := filepath.Join(t.TempDir(), "clone")
	for _, args := range [][]string{{"git", "clone", "--quiet", "../../..", clone}, {"bash", "-eo", "pipefail", "-c", "cd " + clone + "\n" + runs[0]}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "PINS=examples/openshift-4.15/versions.yaml")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for name, start := range map[string]string{"csi-proxy.exe": "MZ", "csiclient.exe": "MZ", "setup.cmd": "@echo off", "remove.cmd": "@echo off",
		"verify.exe": "MZ", "node.json": "{", "image/index.json": "{"} {
		if text := read(t, filepath.Join(clone, "out", name)); !strings.HasPrefix(text, start) {
			t.Errorf("%s starts with %.20q", name, text)
		}
	}
}

// What the node's steps start is handed over, and the client knows the verbs
// and flags that it's given.
func TestWindowsCommandsExist(t *testing.T) {
	handed := []string{"csi-proxy.exe", "csiclient.exe", "setup.cmd", "remove.cmd", "verify.exe"}
	source := read(t, "../../wine/winenode/csiclient/main_windows.go")
	script := strings.Join(slices.Concat(windowsRuns(t, "node"), windowsRuns(t, "change")), "\n")
	for _, name := range regexp.MustCompile(`[\w-]+\.(?:exe|cmd)\b`).FindAllString(script, -1) {
		if !slices.Contains(append(handed, "sc.exe"), name) {
			t.Errorf("%s isn't handed over", name)
		}
	}
	calls := regexp.MustCompile(`\\csiclient\.exe ([a-z-]+)([^\n|}]*)`).FindAllStringSubmatch(script, -1)
	if len(calls) < 10 {
		t.Errorf("the client is started %d times", len(calls))
	}
	for _, c := range calls {
		if !strings.Contains(source, `"`+c[1]+`": `) {
			t.Errorf("the client has no verb %s", c[1])
		}
		for _, f := range regexp.MustCompile(` -([a-z]+) `).FindAllStringSubmatch(c[2]+" ", -1) {
			if !strings.Contains(source, `, "`+f[1]+`", `) {
				t.Errorf("%s: the client has no flag -%s", c[0], f[1])
			}
		}
	}
}

// onNode is a call of verify.exe node.
var onNode = regexp.MustCompile(`(?:Must|On-Node) ([a-z]+)([^;}\n]*)`)

// What verify.exe is started with on Windows is a command, with the flags that
// it's given.
func TestWindowsCommandsOfTheNodeExist(t *testing.T) {
	script := strings.Join(windowsRuns(t, "change"), "\n")
	calls := onNode.FindAllStringSubmatch(script, -1)
	if !strings.Contains(script, `\verify.exe node @args |`) || len(calls) < 10 {
		t.Fatalf("%d calls", len(calls))
	}
	verifyExe := filepath.Join(t.TempDir(), "verify-exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", "../../..", "-trimpath", "-o", verifyExe, "./cmd/verify/node").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := map[string]bool{}
	for _, c := range calls {
		checkCommand(t, verifyExe, []string{"node", c[1]}, strings.Fields(c[2]))
		seen[c[1]] = true
	}
	for _, want := range []string{"install", "check", "remove"} {
		if !seen[want] {
			t.Errorf("%s isn't called", want)
		}
	}
}

// checkCommand asks a program for its help: that of the command itself, with
// each flag in it.
func checkCommand(t *testing.T, program string, path, words []string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, append(slices.Clone(path), "--help")...).CombinedOutput()
	usage := regexp.MustCompile(`(?m)^Usage:\n  \S+ ` + strings.Join(path, " ") + `\b`)
	if err != nil || len(path) == 0 || !usage.Match(out) {
		t.Errorf("there is no command %s %q: %v\n%s", filepath.Base(program), path, err, out)
		return
	}
	for _, w := range words {
		if strings.HasPrefix(w, "-") && !regexp.MustCompile(`(^|\s)`+regexp.QuoteMeta(w)+`\b`).Match(out) {
			t.Errorf("%s %s has no flag %s", filepath.Base(program), strings.Join(path, " "), w)
		}
	}
}
