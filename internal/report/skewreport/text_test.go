package skewreport

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/skew"
)

// Only what is there to be copied may be wider than the terminal.
func TestTextFitsItsWidth(t *testing.T) {
	for name, sample := range map[string]func() Report{"safe": safe, "mixed": mixed, "finished": finished} {
		for _, width := range []int{40, 60, 80, 100, 140} {
			for _, details := range []bool{false, true} {
				for line := range strings.Lines(output(t, "text", sample(), Options{Width: width, Details: details, Verbose: true})) {
					line = strings.TrimRight(line, "\n")
					if printable.Columns(line) > width && !copiable(line) {
						t.Errorf("%s at %d: %d columns: %s", name, width, printable.Columns(line), line)
					}
				}
			}
		}
	}
}

// program is what a command line begins with.
var program = regexp.MustCompile(`^(oc|bake|verify|kubectl|skopeo|test|for|selector=|newest=|done) `)

// copiable tells lines that are commands, URLs and places, or hold one word
// that is too long for the line.
func copiable(line string) bool {
	text := strings.TrimSpace(line)
	for _, label := range []string{"remedy", "source", "evidence", "object", "fix:"} {
		text = strings.TrimSpace(strings.TrimPrefix(text, label))
	}
	first, _, several := strings.Cut(text, " ")
	return !several || program.MatchString(text) || strings.HasPrefix(text, "|") || strings.Contains(first, "/") ||
		strings.HasPrefix(text, "DaemonSet ") || strings.HasPrefix(text, "catalog release") || strings.Contains(text, "  DaemonSet ")
}

// The command that the text names can be run: a plan needs a target.
func TestTextNamesAPlanThatRuns(t *testing.T) {
	under := mixed()
	under.Command = "verify skew --must-gather mg"
	out := output(t, "text", under, Options{})
	if want := "\n    verify skew plan --must-gather mg --to " + under.Result.To + "  # all steps, with commands\n"; !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	rest := finished()
	rest.Result.Steps = mixedSteps()
	if out := output(t, "text", rest, Options{}); strings.Contains(out, "skew plan") {
		t.Errorf("a plan without a target:\n%s", out)
	}
}

// However much there is, drivers are left out for the sake of the first command, and no
// step is cut.
func TestFirstCommandIsNearTheTop(t *testing.T) {
	const why = "which is said here in so many words that they don't fit into one line of a usual terminal, nor into two of them, but into three"
	r := safe()
	for i := range 8 {
		row := r.Result.Drivers[0]
		row.Object = fmt.Sprintf("DaemonSet storage/driver-%d", i)
		r.Result.Drivers = append(r.Result.Drivers, row)
	}
	for i := range 4 {
		object := fmt.Sprintf("DaemonSet storage/driver-%d", i)
		f := finding.Finding{ID: "SKEW005", Severity: finding.Unknown, Object: object, Observed: "tag latest", Remedy: "pin the image of " + object + ", " + why}
		if i == 3 {
			f.Actions = run("oc get pods")
			f.Actions[0].Object = object
		}
		r.Result.Findings = append(r.Result.Findings, f)
	}
	r.Result.Verdict = finding.Unknown
	short := strings.Split(output(t, "text", r, Options{}), "\n")
	first := slices.IndexFunc(short, func(line string) bool { return strings.HasPrefix(line, "      oc get pods") }) + 1
	if first == 0 || first > 16 || strings.Contains(strings.Join(short[:first], "\n"), "...") {
		t.Errorf("the first command is in line %d:\n%s", first, strings.Join(short, "\n"))
	}
	if !slices.ContainsFunc(short, func(line string) bool { return strings.Contains(line, "more drivers, none worse: --details") }) {
		t.Errorf("it doesn't say that drivers are left out:\n%s", strings.Join(short, "\n"))
	}
	whole := output(t, "text", r, Options{Details: true, Width: 1000})
	for i := range 4 {
		if want := fmt.Sprintf("pin the image of DaemonSet storage/driver-%d, %s", i, why); !strings.Contains(whole, want) || !strings.Contains(whole, fmt.Sprintf("driver-%d ", i+4)) {
			t.Errorf("--details lacks %q, or driver %d", want, i+4)
		}
	}
}

// A step of what blocks is never cut, nor left out for those before it.
func TestBlockingStepsAreWhole(t *testing.T) {
	const long = "which is said here in so many words that they don't fit into one line of a usual terminal, nor into two of them, but into three"
	r := safe()
	r.Result.Verdict = finding.Block
	for i := range 8 {
		f := finding.Finding{ID: "REG001", Severity: finding.Block, Object: fmt.Sprintf("DaemonSet storage/driver-%d", i), Observed: "no pipe", Remedy: fmt.Sprintf("mount pipe %d, %s", i, long)}
		r.Result.Findings = append(r.Result.Findings, f)
	}
	text := strings.Join(strings.Fields(output(t, "text", r, Options{})), " ")
	for i := range 8 {
		if want := fmt.Sprintf("mount pipe %d, %s", i, long); !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, output(t, "text", r, Options{}))
		}
	}
}

func TestDefaultWidthIs100(t *testing.T) {
	if output(t, "text", mixed(), Options{}) != output(t, "text", mixed(), Options{Width: 100}) {
		t.Error("no width isn't 100 columns")
	}
}

func TestColorOnlyColors(t *testing.T) {
	plain := output(t, "text", mixed(), Options{})
	colored := output(t, "text", mixed(), Options{Color: true})
	if strings.ContainsRune(plain, '\x1b') {
		t.Error("colours, unasked")
	}
	var b strings.Builder
	for i, part := range strings.Split(colored, "\x1b[") {
		if i > 0 {
			_, part, _ = strings.Cut(part, "m")
		}
		b.WriteString(part)
	}
	if b.String() != plain {
		t.Errorf("colours move the text:\n%s", b.String())
	}
}

func TestAllIsShown(t *testing.T) {
	out := output(t, "text", mixed(), Options{Details: true, Verbose: true, Width: 1000})
	for _, f := range mixedFindings() {
		for _, s := range append([]string{f.ID, f.Object, f.Observed, f.Expected, f.Source}, f.Evidence...) {
			if !strings.Contains(out, s) {
				t.Errorf("the text doesn't say %q", s)
			}
		}
		for line := range strings.SplitSeq(f.Remedy, "\n") {
			if !strings.Contains(out, line) {
				t.Errorf("the remedy lacks %q", line)
			}
		}
	}
	order := []string{"Don't start", "aws-ebs  ", "What to do", "What blocks", "What to act on", "Accepted by you", "Rules not evaluated", "What was read", "catalog of 2026"}
	at := -1
	for _, s := range order {
		next := strings.Index(out, s)
		if next <= at {
			t.Errorf("%q isn't after what comes before it", s)
		}
		at = next
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		in   string
		n    int
		want []string
	}{
		{"one two three four", 9, []string{"one two", "three", "four"}},
		{"", 9, []string{""}},
		{"a  b", 9, []string{"a b"}},
		{"aaaaaaaaaaaaaaaaaaaa b", 9, []string{"aaaaaaaaaaaaaaaaaaaa", "b"}},
		{"from 4.19 -> 4.20 on", 12, []string{"from", "4.19 -> 4.20", "on"}},
		{"日本 日本 日本", 9, []string{"日本 日本", "日本"}},
		{"e\u0301e\u0301 e\u0301e\u0301", 5, []string{"e\u0301e\u0301 e\u0301e\u0301"}},
	} {
		if got := printable.Wrap(tt.in, tt.n); !slices.Equal(got, tt.want) {
			t.Errorf("%q at %d: %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

func TestColumnsOfControlFreeText(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "→": 1, "🙂": 2} {
		if got := printable.Columns(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
	if strings.IndexFunc(output(t, "text", unknown(), Options{}), unicode.IsControl) < 0 {
		t.Error("no line ends: the test above looks at nothing")
	}
}

// What a step of the plan does isn't asked as a question too.
func TestAskedOnce(t *testing.T) {
	wait := []finding.Action{{Summary: "wait", Commands: []string{"oc adm upgrade"}}}
	r := safe()
	r.Result.Findings = []finding.Finding{{ID: "DATA001", Severity: finding.Warn, Remedy: "wait", Actions: wait}}
	r.Result.Steps = []skew.Step{{When: "before", What: "wait", Actions: wait, Rules: []string{"AFTER001"}}}
	if all := newDocument(r).todos(); len(all) != 1 {
		t.Errorf("%v", all)
	}
}

// Two DaemonSets of one name, in two namespaces, are two rows.
func TestDriversOfOneNameAreTwoRows(t *testing.T) {
	r := safe()
	row := r.Result.Drivers[0]
	row.Object, row.Windows = "DaemonSet a/csi-windows", "1.1.1"
	other := row
	other.Object, other.Windows = "DaemonSet b/csi-windows", "1.2.2"
	r.Result.Drivers = []skew.Row{row, other}
	for _, details := range []bool{false, true} {
		out := output(t, "text", r, Options{Width: 120, Details: details})
		for _, want := range []string{`(?m)^a/csi-windows .* 1\.1\.1 `, `(?m)^b/csi-windows .* 1\.2\.2 `} {
			if !regexp.MustCompile(want).MatchString(out) {
				t.Errorf("no %s in\n%s", want, out)
			}
		}
	}
}
