package skewreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/skew"
)

var update = flag.Bool("update", false, "write the golden files")

var samples = map[string]func() Report{"safe": safe, "mixed": mixed, "unknown": unknown, "finished": finished}

var suffix = map[string]string{"text": "txt", "json": "json", "junit": "xml", "sarif": "sarif", "markdown": "md", "html": "html"}

func output(t testing.TB, format string, r Report, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, format, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func planOf(t testing.TB, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Plan(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func planHTMLOf(t testing.TB, r Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := PlanHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, sample := range samples {
		for _, format := range Formats {
			golden(t, name+"."+suffix[format], output(t, format, sample(), Options{}))
		}
		golden(t, name+".plan.md", planOf(t, sample()))
	}
	golden(t, "mixed.plan.html", planHTMLOf(t, mixed()))
	golden(t, "details.txt", output(t, "text", mixed(), Options{Details: true}))
	golden(t, "verbose-color.txt", output(t, "text", mixed(), Options{Color: true, Details: true, Verbose: true, Width: 120}))
	golden(t, "narrow.txt", output(t, "text", mixed(), Options{Width: 60}))
	golden(t, "empty.txt", output(t, "text", Report{}, Options{}))
}

// The way back has the numbers of the steps, a finding's own remedy before the
// plan counted, and the last step first.
func TestPlanRollback(t *testing.T) {
	r := Report{Result: &skew.Result{
		Findings: []finding.Finding{{ID: "DATA002", Severity: finding.Unknown, Remedy: "read the nodes"}},
		Steps: []skew.Step{
			{What: "a", Actions: []finding.Action{{Kind: "set-image", Summary: "first", Commands: []string{"do 1"}, Undo: []string{"undo 1"}}}},
			{What: "b", Actions: []finding.Action{{Kind: "update-wmco", Commands: []string{"do 2"}, NoUndo: "it can't"}, {Kind: "check", Commands: []string{"look"}}}},
		},
	}}
	_, got, found := strings.Cut(planOf(t, r), "## Rollback\n")
	got, _, _ = strings.Cut(got, "## What was assumed")
	const want = `
From the last step that was done back to the first. Files that a step has saved are in the folder that it ran in.

- **3.** no way back by a command: it can't

- **2.** undo: first

  ` + "```sh\n  undo 1\n  ```" + `

`
	if !found || got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := planOf(t, Report{}); strings.Contains(got, "Rollback") {
		t.Errorf("a plan without steps has a way back:\n%s", got)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it again):\n%s", path, got)
	}
}

// Nothing that a terminal acts upon gets out, whatever the format.
func TestNothingRawGetsOut(t *testing.T) {
	outputs := map[string]string{"plan": planOf(t, unknown()), "plan -o html": planHTMLOf(t, unknown())}
	for _, format := range Formats {
		outputs[format] = output(t, format, unknown(), Options{Details: true, Verbose: true})
	}
	outputs["short text"] = output(t, "text", unknown(), Options{})
	for name, out := range outputs {
		if !utf8.ValidString(out) {
			t.Errorf("%s isn't UTF-8", name)
		}
		if i := strings.IndexFunc(out, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("%s: reaches the terminal raw: %q", name, out[max(0, i-20):min(len(out), i+20)])
		}
	}
}

// Every command that is printed reaches the cluster that was read, in every format; the
// script's has it once.
func TestCommandsReachTheCluster(t *testing.T) {
	r := mixed()
	r.Target = Target{Context: "prod", Kubeconfig: "/k", Flags: []string{"--kubeconfig", "/k", "--context", "prod"}, Judging: []string{"--accept", "SKEW001"}}
	for _, f := range r.Result.Findings {
		said(f.Actions)
	}
	for _, s := range r.Result.Steps {
		said(s.Actions)
	}
	const with = "oc --kubeconfig /k --context prod "
	var plan, script strings.Builder
	if err := errors.Join(Plan(&plan, r), Script(&script, r)); err != nil {
		t.Fatal(err)
	}
	steps, err := json.Marshal(PlanOf(r))
	if err != nil {
		t.Fatal(err)
	}
	bare := regexp.MustCompile(`(?m)(^\s*|[|(&] |\\n)oc [^-]`)
	for name, text := range map[string]string{
		"text": output(t, "text", r, Options{}), "markdown": output(t, "markdown", r, Options{}), "html": output(t, "html", r, Options{}),
		"json": output(t, "json", r, Options{}), "plan": plan.String(), "plan -o json": string(steps),
	} {
		if !strings.Contains(text, with) {
			t.Errorf("%s: no command has the flags", name)
		}
		if m := bare.FindString(text); m != "" {
			t.Errorf("%s: bare %q", name, m)
		}
	}
	if text := script.String(); strings.Contains(text, with) || !strings.Contains(text, "kubeconfig='/k'\ncontext='prod'\n") {
		t.Errorf("the script has them elsewhere:\n%s", text)
	}
}

// said gives actions words that aren't their commands.
func said(list []finding.Action) {
	for i := range list {
		list[i].Summary = "do it"
	}
}

func TestOrderDoesntMatter(t *testing.T) {
	for _, format := range Formats {
		want := output(t, format, mixed(), Options{Details: true, Verbose: true})
		r := mixed()
		slices.Reverse(r.Result.Findings)
		slices.Reverse(r.Result.Drivers)
		slices.Reverse(r.Result.NotEvaluated)
		slices.Reverse(r.Result.Evaluated)
		given := slices.Clone(r.Result.Findings)
		if got := output(t, format, r, Options{Details: true, Verbose: true}); got != want {
			t.Errorf("%s changes with the order of what it is given:\n%s", format, got)
		}
		if !reflect.DeepEqual(r.Result.Findings, given) {
			t.Errorf("%s sorts the caller's findings", format)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, "pdf", safe(), Options{})
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || !strings.Contains(f.What, `"pdf"`) || b.Len() > 0 {
		t.Fatalf("%v; wrote %q", err, b.String())
	}
	for _, format := range Formats {
		if !strings.Contains(f.Fix, format) {
			t.Errorf("the fix doesn't name %s: %s", format, f.Fix)
		}
	}
	if len(Formats) != len(writers) {
		t.Errorf("%d formats, %d writers", len(Formats), len(writers))
	}
}

var errClosed = errors.New("closed")

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, errClosed }

func TestWriteError(t *testing.T) {
	for _, format := range Formats {
		if err := Write(closed{}, format, mixed(), Options{}); !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", format, err)
		}
	}
	if err := Plan(closed{}, mixed()); !errors.Is(err, errClosed) {
		t.Errorf("plan: %v", err)
	}
}

func TestSummary(t *testing.T) {
	hop := []skew.Hop{{From: "4.19", To: "4.20"}}
	rows := []skew.Row{{Driver: "smb"}}
	one := func(s finding.Severity, phase skew.Phase) finding.Finding {
		return finding.Finding{Severity: s, Phase: string(phase), Hop: "4.19 -> 4.20"}
	}
	for want, r := range map[string]skew.Result{
		"The update from 4.19 to 4.20 is safe as far as is known.":                                                     {From: "4.19", To: "4.20", Hops: hop, Drivers: rows},
		"The update to OpenShift 4.20 is safe as far as is known.":                                                     {To: "4.20", Drivers: rows},
		"The update from 4.19 to 4.20 is safe as far as is known: 1 warning to act on first.":                          {From: "4.19", To: "4.20", Drivers: rows, Findings: []finding.Finding{one(finding.Warn, skew.Target)}},
		"Unknown: whether the update from 4.19 to 4.20 is safe; 1 question is open.":                                   {From: "4.19", To: "4.20", Findings: []finding.Finding{one(finding.Unknown, skew.Target)}},
		"Don't start the update from 4.19 to 4.20 yet: 1 finding blocks it.":                                           {From: "4.19", To: "4.20", Hops: hop, Findings: []finding.Finding{one(finding.Block, skew.Target)}},
		"Don't start the update from 4.19 to 4.20 yet: 1 finding blocks it, and is there already.":                     {From: "4.19", To: "4.20", Findings: []finding.Finding{one(finding.Block, skew.Now)}},
		"Don't start the update from 4.19 to 4.20 yet: 2 findings block it, 1 of them there already.":                  {From: "4.19", To: "4.20", Findings: []finding.Finding{one(finding.Block, skew.Now), one(finding.Block, skew.Target)}},
		"Windows storage on OpenShift 4.20 isn't healthy: 1 finding must be dealt with.":                               {From: "4.20", Findings: []finding.Finding{one(finding.Block, skew.Now)}},
		"Unknown: whether Windows storage on this cluster is healthy; 2 questions are open.":                           {Findings: []finding.Finding{one(finding.Unknown, skew.Now), one(finding.Unknown, skew.Now)}},
		"Windows storage on OpenShift 4.20 is healthy as far as is known (3 rules not evaluated).":                     {From: "4.20", Drivers: rows, NotEvaluated: make([]skew.NotEvaluated, 3)},
		"No Windows CSI driver was found in what was read, so there is no skew to judge.":                              {From: "4.19", To: "4.20"},
		"Windows storage on OpenShift 4.20 is healthy as far as is known (1 finding accepted by you).":                 {From: "4.20", Drivers: rows, Findings: []finding.Finding{{Severity: finding.Info, Accepted: "BLOCK"}}},
		"Windows storage on OpenShift 4.20 is healthy as far as is known: 1 warning to act on (1 rule not evaluated).": {From: "4.20", Drivers: rows, NotEvaluated: make([]skew.NotEvaluated, 1), Findings: []finding.Finding{one(finding.Warn, skew.Now)}},
		"Don't start the update from 4.18 to 4.20 yet: 2 findings block it, the first at 4.19 -> 4.20.":                {From: "4.18", To: "4.20", Hops: make([]skew.Hop, 2), Findings: []finding.Finding{one(finding.Block, skew.Target), one(finding.Block, skew.Target)}},
		"Don't start the update from 4.18 to 4.20 yet: 2 findings block it, and all are there already.":                {From: "4.18", To: "4.20", Findings: []finding.Finding{one(finding.Block, skew.Now), one(finding.Block, skew.Now)}},
	} {
		if got := newDocument(Report{Result: &r}).Summary; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct{ linux, windows, want string }{
		{"1.32.0", "1.32.3", "same"},
		{"1.32.0", "1.30.5", "2 behind"},
		{"1.30.5", "1.32.0", "2 ahead"},
		{"26.06.0", "25.10.1", "8 mo. behind"},
		{"3.0.0", "2.7.0", "other major"},
		{"unknown", "2.7.0", "unknown"},
		{"1.32.0 or 1.32.3", "1.30.5", "2 behind"},
		{"1.32.0 or 1.32.3", "1.32.1", "same"},
		{"1.28.1 or 1.29.5", "1.26.0", "2-3 behind"},
		{"1.28.1 or 1.29.5", "1.28.1", "0-1 behind"},
		{"1.28.1 or 1.29.5", "1.29.1", "0-1 ahead"},
		{"1.28.1 or 1.29.5", "1.31.0", "2-3 ahead"},
		{"1.28.1 or 1.30.5", "1.29.0", "1 behind to 1 ahead"},
		{"1.32.0", "1.30.0 or 1.31.0", "1-2 behind"},
		{"3.0.0 or 3.1.0", "2.7.0", "other major"},
		{"1.32.0 or 2.0.0", "1.32.0", "unknown"},
		{"1.32.0 or 2.0.0", "2.0.0", "unknown"},
	} {
		if got := distance(tt.linux, tt.windows); got != tt.want {
			t.Errorf("Linux %s, Windows %s: %s, want %s", tt.linux, tt.windows, got, tt.want)
		}
	}
}
