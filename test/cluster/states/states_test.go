package states

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/verify"
)

// wrong are the states that the program doesn't judge as the expert, with what it
// says: shorter is better, and nothing is added that was right before.
var wrong = map[string]finding.Severity{}

// output is what a run of verify left.
type output struct {
	stdout, stderr string
	exit           int
}

// run runs verify in this process, as its main does.
func run(t *testing.T, args ...string) output {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app.App{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}
	code := a.Run(t.Context(), verify.New(a), args)
	return output{stdout.String(), stderr.String(), code}
}

// judge is the answer to what is asked.
func judge(t *testing.T, asked []string) *answer {
	t.Helper()
	out := run(t, append([]string{"skew", "-o", "json"}, asked...)...)
	if out.exit == 1 {
		t.Fatalf("verify skew %s: %s", strings.Join(asked, " "), out.stderr)
	}
	a := &answer{}
	if err := json.Unmarshal([]byte(out.stdout), a); err != nil {
		t.Fatal(err)
	}
	return a
}

// answer is what a state's check is held by, of the report in JSON.
type answer struct {
	Verdict  finding.Severity
	Findings []struct {
		ID       string
		Severity finding.Severity
	}
	Steps []step
}

// holds what is true of every plan: it names nothing twice, and no command ends the
// shell that it is pasted into.
func (a *answer) holds(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	for _, s := range a.Steps {
		key := fmt.Sprintf("%d %s %s", s.Hop, s.When, s.What)
		for _, action := range s.Actions {
			for _, line := range slices.Concat(action.Commands, action.Wait, action.Undo) {
				key += "\n" + line
				if exits.MatchString(line) && !strings.HasPrefix(line, "(\n") {
					t.Errorf("it ends the shell that it is pasted into: %s", line)
				}
			}
		}
		if seen[key] {
			t.Errorf("the plan names it twice: %s", key)
		}
		seen[key] = true
	}
}

var exits = regexp.MustCompile(`\bexit [0-9]`)

// grounds are the rules that are as loud as the verdict.
func grounds(r *answer) string {
	var list []string
	for _, f := range r.Findings {
		if f.Severity >= finding.Warn && f.Severity == r.Verdict {
			list = append(list, f.ID)
		}
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

func TestStates(t *testing.T) {
	t.Parallel()
	var score score
	golden := readGrounds(t)
	all := states()
	for i := range all {
		s := &all[i]
		t.Run(s.name, func(t *testing.T) {
			asked := s.asked(t, t.TempDir())
			r := judge(t, asked)
			x := text(run(t, append([]string{"skew"}, asked...)...).stdout)
			if n := x.firstCommand(); n > 15 && !strings.Contains(string(x), "nothing before the update") {
				t.Errorf("the first command is in line %d:\n%s", n, x)
			}
			score.count(s.verdict, r.Verdict, x)
			r.holds(t)
			s.compare(t, r)
			golden.compare(t, s.name, r)
		})
	}
	t.Log(score.String())
	if *update {
		golden.write(t)
	}
	for name := range golden.want {
		if _, ok := golden.got[name]; !ok {
			t.Errorf("%s has %q, which is no state", groundsFile, name)
		}
	}
}

// compare holds an answer to the expert's, or to the list of wrong ones.
func (s *state) compare(t *testing.T, r *answer) {
	t.Helper()
	said, listed := wrong[s.name]
	switch {
	case listed && r.Verdict == s.verdict:
		t.Errorf("it says %s, as the expert does: take it off the list of wrong ones", r.Verdict)
	case listed && r.Verdict != said:
		t.Errorf("it says %s (%s) and no longer %s; want %s: %s", r.Verdict, grounds(r), said, s.verdict, s.why)
	case !listed && r.Verdict != s.verdict:
		t.Errorf("it says %s (%s), want %s: %s\n%s", r.Verdict, grounds(r), s.verdict, s.why, s.source)
	}
}

// The list of wrong answers is of states that there are, which have all that a
// state needs.
func TestStatesAreWhole(t *testing.T) {
	names := map[string]bool{}
	for _, s := range states() {
		if names[s.name] || s.why == "" || !strings.HasPrefix(s.source, "https://") {
			t.Errorf("%s: twice, or without why or source", s.name)
		}
		names[s.name] = true
	}
	for name := range wrong {
		if !names[name] {
			t.Errorf("there is no state %q", name)
		}
	}
}

// score is how the program does.
type score struct {
	n, right                          int
	falseBlock, wronglySafe, needless int
	lines, first                      map[finding.Severity][]int
}

// text is a report that a person reads.
type text string

// command is a line that an admin can paste.
var command = regexp.MustCompile(`^\s*(oc|kubectl|bake|verify|helm|argocd|flux|skopeo) `)

// firstLine is what the first of an action's lines begins with: it may keep an object
// in a file only where that isn't there.
var firstLine = regexp.MustCompile(command.String() + `|^ +(test -s |\(|selector=)`)

// firstCommand is the number of the first line with a command; 0 for none.
func (x text) firstCommand() int {
	for i, line := range strings.Split(string(x), "\n") {
		if firstLine.MatchString(line) {
			return i + 1
		}
	}
	return 0
}

func (x text) lines() int { return strings.Count(strings.TrimRight(string(x), "\n"), "\n") + 1 }

func (c *score) count(want, got finding.Severity, x text) {
	c.n++
	switch {
	case want == got:
		c.right++
	case got == finding.Block:
		c.falseBlock++
	case got == finding.Unknown:
		c.needless++
	case got < want:
		c.wronglySafe++
	}
	if c.lines == nil {
		c.lines, c.first = map[finding.Severity][]int{}, map[finding.Severity][]int{}
	}
	c.lines[got] = append(c.lines[got], x.lines())
	if n := x.firstCommand(); n > 0 {
		c.first[got] = append(c.first[got], n)
	}
}

func (c *score) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d right; %d false BLOCKs, %d wrongly safe, %d needless UNKNOWNs\n", c.right, c.n, c.falseBlock, c.wronglySafe, c.needless)
	for _, s := range slices.Sorted(maps.Keys(c.lines)) {
		fmt.Fprintf(&b, "%-8s %3d states, median %d lines, first command by line %d\n", s, len(c.lines[s]), median(c.lines[s]), median(c.first[s]))
	}
	return b.String()
}

func median(list []int) int {
	if len(list) == 0 {
		return 0
	}
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}
