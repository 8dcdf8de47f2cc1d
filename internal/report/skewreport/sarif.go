package skewreport

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/report"
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	// home is where the rules are described.
	home = "https://github.com/winbake/winbake/blob/main/docs/skew-report.md"
)

// encodeSARIF writes SARIF 2.1.0:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
func encodeSARIF(d *Document, _ Options) (string, error) {
	d = d.display()
	run := sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "verify skew", Version: d.Tool.Version, InformationURI: home, Rules: []sarifRule{},
		}},
		Invocations: []sarifInvocation{{
			ExecutionSuccessful: true, CommandLine: oneLine(d.Tool.CommandLine), ExitCode: d.ExitCode,
			Notifications: d.sarifNotifications(),
		}},
		Results:    []sarifResult{},
		ColumnKind: "unicodeCodePoints",
		Properties: map[string]any{"verdict": d.Verdict.String(), "summary": d.Summary, "catalogAsOf": d.Catalog.AsOf},
	}
	index := map[string]int{}
	for i, r := range d.Rules {
		index[r.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(r))
	}
	for _, f := range d.Findings {
		run.Results = append(run.Results, d.sarifResult(f, index[f.ID]))
	}
	return report.EncodeJSON(sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: []sarifRun{run}})
}

func sarifRuleOf(r RuleInfo) sarifRule {
	help := strings.TrimSpace(r.Ground + " See verify skew --explain " + r.ID + ".")
	rule := sarifRule{ID: r.ID, ShortDescription: sarifMessage{Text: firstOf(r.Title, r.ID)}, Help: sarifMessage{Text: help}}
	if isURL(r.Source) {
		rule.HelpURI = r.Source
	}
	return rule
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

// sarifNotifications tell of rules that weren't evaluated and inputs that
// couldn't be read.
func (d *Document) sarifNotifications() []sarifNotification {
	var all []sarifNotification
	for _, n := range d.NotEvaluated {
		all = append(all, sarifNotification{Level: "note", Message: sarifMessage{Text: n.Rule + " wasn't evaluated: " + n.Reason}})
	}
	for _, p := range d.Problems {
		all = append(all, sarifNotification{Level: "warning", Message: sarifMessage{Text: "couldn't read " + problem(p)}})
	}
	return all
}

func (d *Document) sarifResult(f finding.Finding, rule int) sarifResult {
	text := f.Object
	for _, p := range parts(f) {
		if p.Name != "evidence" && p.Name != "source" {
			text += "\n" + p.Name + ": " + p.Text
		}
	}
	r := sarifResult{
		RuleID: f.ID, RuleIndex: rule, Kind: "fail", Level: d.sarifLevel(f.Severity),
		Message:             sarifMessage{Text: strings.TrimSpace(f.Severity.String() + " " + text)},
		Locations:           locations(f),
		PartialFingerprints: map[string]string{"winbakeSkew/v1": fingerprint(f)},
		Properties:          map[string]any{"severity": f.Severity.String(), "phase": f.Phase, "hop": f.Hop},
	}
	if f.Severity == finding.Pass {
		r.Kind, r.Level = "pass", "none"
	}
	if f.Accepted != "" {
		r.Suppressions = []sarifSuppression{{Kind: "external", Status: "accepted", Justification: "--accept; it was " + f.Accepted}}
	}
	return r
}

// sarifLevel is error for what fails the command, so that no two outputs
// disagree.
func (d *Document) sarifLevel(s finding.Severity) string {
	switch {
	case s >= d.failing():
		return "error"
	case s >= finding.Warn:
		return "warning"
	}
	return "note"
}

// fingerprint stays the same from run to run as long as rule, object and
// moment do, whatever versions were observed.
func fingerprint(f finding.Finding) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{f.ID, f.Object, f.Phase, f.Hop}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// fileLine takes file:line and file:line:column at the start of a piece of
// evidence, with words after it or none. Only names that end like a file may
// have spaces: an object and its field have them too.
var fileLine = regexp.MustCompile(`^([^\s:]+|[^:]+\.(?:ya?ml|json|log|txt)):([1-9][0-9]{0,8})(?::([1-9][0-9]{0,8}))?(?:[:\s].*)?$`)

// locations are the files that f was read from, and the object that it is
// about.
func locations(f finding.Finding) []sarifLocation {
	var object []sarifLogical
	if f.Object != "" {
		object = []sarifLogical{{FullyQualifiedName: f.Object, Kind: "resource"}}
	}
	var all []sarifLocation
	for _, e := range f.Evidence {
		if p := physical(e); p != nil {
			all = append(all, sarifLocation{Physical: p, Logical: object})
		}
	}
	if len(all) == 0 && object != nil {
		all = []sarifLocation{{Logical: object}}
	}
	return all
}

// physical is where evidence is in a file; nil where it isn't in one.
// A host with a port isn't a file: those have an extension or a folder.
func physical(evidence string) *sarifPhysical {
	m := fileLine.FindStringSubmatch(evidence)
	if m == nil || !strings.ContainsAny(m[1], "./") {
		return nil
	}
	line, _ := strconv.Atoi(m[2]) // digits alone, few enough
	column, _ := strconv.Atoi(m[3])
	uri := (&url.URL{Path: path.Clean(m[1])}).String()
	if path.IsAbs(m[1]) {
		uri = (&url.URL{Scheme: "file", Path: path.Clean(m[1])}).String()
	}
	return &sarifPhysical{Artifact: sarifArtifact{URI: uri}, Region: sarifRegion{StartLine: line, StartColumn: column}}
}

// The part of SARIF 2.1.0 that is written:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json

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
