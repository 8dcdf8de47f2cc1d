package skew

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected outputs in testdata")

// example is one folder of testdata: cmd holds what it shows (lines with #),
// the command, and its exit code. expected.txt is what the command prints, on
// stderr where it can't run; expected.rules is what its answer with -o json comes to,
// and one folder has that answer whole, in expected.json.
type example struct {
	dir  string
	args []string
	exit int
}

// examples are all folders of testdata.
func examples(t *testing.T) []example {
	t.Helper()
	files, err := filepath.Glob("testdata/*/cmd")
	if err != nil {
		t.Fatal(err)
	}
	var all []example
	for _, file := range files {
		all = append(all, readExample(t, file))
	}
	if len(all) == 0 {
		t.Fatal("no examples in testdata")
	}
	return all
}

func readExample(t *testing.T, file string) example {
	t.Helper()
	e := example{dir: filepath.Dir(file), exit: -1}
	says := false
	for line := range strings.Lines(read(t, file)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "# "):
			says = true
		case strings.HasPrefix(line, "verify "):
			e.args = strings.Fields(line)[1:]
		case strings.HasPrefix(line, "exit "):
			code, err := strconv.Atoi(strings.TrimPrefix(line, "exit "))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			e.exit = code
		default:
			t.Fatalf("%s: %q is neither a comment, nor a command, nor an exit code", file, line)
		}
	}
	if !says || e.args == nil || e.exit < 0 {
		t.Fatalf("%s: there must be a comment, a command and its exit code", file)
	}
	return e
}

func TestGolden(t *testing.T) {
	for _, e := range examples(t) {
		t.Run(filepath.Base(e.dir), func(t *testing.T) {
			e.check(t)
		})
	}
}

// check runs the command as it is, and with -o json.
func (e example) check(t *testing.T) {
	machine := e.json(t)
	t.Chdir(e.dir)
	out := run(t, e.args...)
	if out.exit != e.exit {
		t.Errorf("exit code %d, want %d\n%s%s", out.exit, e.exit, out.stdout, out.stderr)
	}
	text := out.stdout
	if e.exit == 1 {
		text = out.stderr
	} else if out.stderr != "" {
		t.Errorf("stderr: %s", out.stderr)
	}
	same(t, "expected.txt", text)
	if e.exit == 1 {
		return
	}
	same(t, "expected.rules", decoded(t, machine).summary())
	if filepath.Base(e.dir) == wholeAnswer {
		same(t, "expected.json", machine)
	}
}

// wholeAnswer is the folder whose answer is held to the letter, with -o json.
const wholeAnswer = "01-vsphere-4.19-4.20"

// summary is a line for each thing that an answer says: its verdict, its findings with
// the actions that they ask for, its plan, and what it couldn't tell.
func (r *report) summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, exit %d\n", r.Verdict, r.ExitCode)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s %s %s %s %s", f.Hop, f.Phase, f.Severity, f.ID, f.Object)
		if f.Accepted != "" {
			fmt.Fprintf(&b, ", accepted %s", f.Accepted)
		}
		for _, a := range f.Actions {
			fmt.Fprintf(&b, ", %s %s", a.Kind, a.Object)
		}
		b.WriteByte('\n')
	}
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "step %d %s:", s.Hop, s.When)
		for _, a := range s.Actions {
			fmt.Fprintf(&b, " %s", a.Kind)
		}
		b.WriteByte('\n')
	}
	for _, n := range r.NotEvaluated {
		fmt.Fprintf(&b, "not evaluated: %s, %s\n", n.Rule, n.Reason)
	}
	return b.String()
}

// same compares with a golden file, or writes it.
func same(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := read(t, file); got != want {
		t.Errorf("%s differs; go test ./test/skew -update writes it again:\n%s", file, firstDifference(want, got))
	}
}

// firstDifference shows the first lines that differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		a, b := lineAt(w, i), lineAt(g, i)
		if a != b {
			return "line " + strconv.Itoa(i+1) + "\nwant " + a + "\n got " + b
		}
	}
	return ""
}

func lineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
