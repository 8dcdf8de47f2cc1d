package skewreport

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
)

func sarifOf(t *testing.T, r Report) sarifLog {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(output(t, "sarif", r, Options{})))
	d.DisallowUnknownFields()
	var log sarifLog
	if err := d.Decode(&log); err != nil {
		t.Fatal(err)
	}
	return log
}

// The rules of the SARIF 2.1.0 schema that this output could break.
func TestSARIFStructure(t *testing.T) {
	for name, sample := range samples {
		log := sarifOf(t, sample())
		if log.Version != "2.1.0" || len(log.Runs) != 1 || !strings.Contains(log.Schema, "sarif-schema-2.1.0") {
			t.Fatalf("%s: %+v", name, log)
		}
		run := log.Runs[0]
		checkRules(t, name, run.Tool.Driver.Rules)
		prints := map[string]bool{}
		for _, r := range run.Results {
			if r.RuleIndex < 0 || r.RuleIndex >= len(run.Tool.Driver.Rules) || run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID {
				t.Errorf("%s: rule %q isn't at %d", name, r.RuleID, r.RuleIndex)
			}
			checkResult(t, name, r)
			prints[r.PartialFingerprints["winbakeSkew/v1"]] = true
		}
		if len(prints) != len(run.Results) {
			t.Errorf("%s: %d results have %d fingerprints", name, len(run.Results), len(prints))
		}
		if got, want := len(run.Results), len(sample().Result.Findings); got != want {
			t.Errorf("%s: %d results of %d findings", name, got, want)
		}
		for _, n := range run.Invocations[0].Notifications {
			if !slices.Contains([]string{"none", "note", "warning", "error"}, n.Level) || n.Message.Text == "" {
				t.Errorf("%s: %+v", name, n)
			}
		}
	}
}

func checkRules(t *testing.T, name string, rules []sarifRule) {
	t.Helper()
	ids := map[string]bool{}
	for _, r := range rules {
		if ids[r.ID] || r.ID == "" || r.ShortDescription.Text == "" || r.Help.Text == "" {
			t.Errorf("%s: rule twice, or without help: %+v", name, r)
		}
		ids[r.ID] = true
		if u, err := url.Parse(r.HelpURI); err != nil || r.HelpURI != "" && !u.IsAbs() {
			t.Errorf("%s: helpUri %q", name, r.HelpURI)
		}
	}
}

func checkResult(t *testing.T, name string, r sarifResult) {
	t.Helper()
	if r.Message.Text == "" {
		t.Errorf("%s: a result without a message: %+v", name, r)
	}
	if !slices.Contains([]string{"fail", "pass"}, r.Kind) || !slices.Contains([]string{"none", "note", "warning", "error"}, r.Level) ||
		(r.Kind != "fail") != (r.Level == "none") {
		t.Errorf("%s: kind %s with level %s", name, r.Kind, r.Level)
	}
	for _, l := range r.Locations {
		if l.Physical == nil && len(l.Logical) == 0 {
			t.Errorf("%s: an empty location", name)
		}
		if p := l.Physical; p != nil {
			if _, err := url.Parse(p.Artifact.URI); err != nil || p.Artifact.URI == "" || p.Region.StartLine < 1 || p.Region.StartColumn < 0 {
				t.Errorf("%s: %+v: %v", name, p, err)
			}
		}
	}
	for _, s := range r.Suppressions {
		if s.Kind != "external" || s.Status != "accepted" {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestSARIFLevels(t *testing.T) {
	for failOn, want := range map[finding.Severity][]string{
		finding.Block:   {"error", "warning", "warning", "note", "none"},
		finding.Unknown: {"error", "error", "warning", "note", "none"},
		finding.Warn:    {"error", "error", "error", "note", "none"},
	} {
		r := mixed()
		r.FailOn = finding.FailOn(failOn)
		r.Result.Findings = nil
		for s := finding.Block; s >= finding.Pass; s-- {
			r.Result.Findings = append(r.Result.Findings, finding.Finding{ID: "X", Severity: s})
		}
		var got []string
		for _, result := range sarifOf(t, r).Runs[0].Results {
			got = append(got, result.Level)
		}
		if !slices.Equal(got, want) {
			t.Errorf("fail on %v: %v, want %v", failOn, got, want)
		}
	}
}

func TestLocations(t *testing.T) {
	for evidence, want := range map[string]place{
		"a/b.yaml:12":                        {"a/b.yaml", 12, 0},
		"./a/b.yaml:12:3":                    {"a/b.yaml", 12, 3},
		"a/b.yaml:12:3: image: x:v1":         {"a/b.yaml", 12, 3},
		"a/b.yaml:12: image: x:v1":           {"a/b.yaml", 12, 0},
		"/tmp/x y.yaml:1":                    {"file:///tmp/x%20y.yaml", 1, 0},
		"a/b%c#d.yaml:7":                     {"a/b%25c%23d.yaml", 7, 0},
		"a.yaml:0":                           {},
		"a.yaml:99999999999":                 {},
		"registry:5000/x":                    {},
		"DaemonSet ns/name spec.x: image:12": {},
		"Node win-1 status.nodeInfo":         {},
		"localhost:6443":                     {},
		"":                                   {},
	} {
		got := places([]string{evidence})
		if want == (place{}) && len(got) > 0 || want != (place{}) && !slices.Equal(got, []place{want}) {
			t.Errorf("%q is at %+v, want %+v", evidence, got, want)
		}
	}
}

// What is written of SARIF, and nothing else.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
	ColumnKind  string            `json:"columnKind"`
	Properties  map[string]any    `json:"properties"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version,omitempty"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string       `json:"id"`
	ShortDescription sarifMessage `json:"shortDescription"`
	Help             sarifMessage `json:"help"`
	HelpURI          string       `json:"helpUri,omitempty"`
}

type sarifMessage struct {
	Text string `json:"text"`
}

type sarifInvocation struct {
	ExecutionSuccessful bool                `json:"executionSuccessful"`
	CommandLine         string              `json:"commandLine,omitempty"`
	ExitCode            int                 `json:"exitCode"`
	Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string       `json:"level"`
	Message sarifMessage `json:"message"`
}

type sarifResult struct {
	RuleID              string             `json:"ruleId"`
	RuleIndex           int                `json:"ruleIndex"`
	Kind                string             `json:"kind"`
	Level               string             `json:"level"`
	Message             sarifMessage       `json:"message"`
	Locations           []sarifLocation    `json:"locations,omitempty"`
	PartialFingerprints map[string]string  `json:"partialFingerprints"`
	Suppressions        []sarifSuppression `json:"suppressions,omitempty"`
	Properties          map[string]any     `json:"properties"`
}

type sarifSuppression struct {
	Kind          string `json:"kind"`
	Status        string `json:"status"`
	Justification string `json:"justification"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn,omitempty"`
}

type sarifLogical struct {
	FullyQualifiedName string `json:"fullyQualifiedName"`
	Kind               string `json:"kind"`
}
