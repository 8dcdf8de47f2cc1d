package skewreport

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/report"
)

//go:embed sarif.tmpl
var sarifSource string

var sarifTemplate = template.Must(template.New("sarif").Funcs(template.FuncMap{
	"json": report.EncodeJSON, "oneLine": printable.OneLine, "isURL": isURL, "problem": problem, "message": sarifText, "level": (*Document).sarifLevel,
	"fingerprint": fingerprint, "places": places,
	"help": func(r RuleInfo) string {
		return strings.TrimSpace(r.Ground + " See verify skew --explain " + r.ID + ".")
	},
	"ruleIndex": (*Document).ruleIndex,
}).Parse(sarifSource))

func encodeSARIF(d *Document, _ Options) (string, error) {
	var b strings.Builder
	if err := sarifTemplate.Execute(&b, d.display()); err != nil {
		return "", err
	}
	return report.EncodeJSON(json.RawMessage(b.String()))
}

func sarifText(f finding.Finding) string {
	text := f.Severity.String() + " " + f.Object
	for _, p := range parts(f) {
		if p.Name != "evidence" && p.Name != "source" {
			text += "\n" + p.Name + ": " + p.Text
		}
	}
	return strings.TrimSpace(text)
}

func isURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != ""
}

// sarifLevel is error for what fails the command, so that no two outputs
// disagree.
func (d *Document) sarifLevel(s finding.Severity) string {
	switch {
	case s == finding.Pass:
		return "none"
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

type place struct {
	URI          string
	Line, Column int
}

// places are the files that a finding was read from. A host with a port isn't a
// file: those have an extension or a folder.
func places(evidence []string) []place {
	var all []place
	for _, e := range evidence {
		m := fileLine.FindStringSubmatch(e)
		if m == nil || !strings.ContainsAny(m[1], "./") {
			continue
		}
		uri := url.URL{Path: path.Clean(m[1])}
		if path.IsAbs(m[1]) {
			uri.Scheme = "file"
		}
		line, _ := strconv.Atoi(m[2]) // digits alone, few enough
		column, _ := strconv.Atoi(m[3])
		all = append(all, place{uri.String(), line, column})
	}
	return all
}
