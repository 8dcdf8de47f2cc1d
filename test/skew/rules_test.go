package skew

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/report/skewreport"
	"github.com/winbake/winbake/internal/skew"
)

// shown names, for a rule, an example where it was asked and had nothing to say,
// and one where it can't tell. by is the rule that says UNKNOWN there: where a rule
// has no UNKNOWN of its own, what it lacks is told by another. An example where it
// fires its explanation names.
type shown struct {
	quiet, unknown, by string
}

var rulesShown = map[string]shown{
	"SKEW001":   {"09-vsphere-rebase-taken-back", "03-azurefile-latest", "SKEW005"},
	"SKEW002":   {"01-vsphere-4.19-4.20", "azuredisk-typo-tag", "SKEW005"},
	"SKEW003":   {"15-helm-output", "azuredisk-typo-tag", "SKEW005"},
	"SKEW005":   {"03-azurefile-latest-mapped", "driver-unknown-to-the-catalog", "SKEW005"},
	"SKEW006":   {"14-update-under-way", "daemonset-alone", "DATA002"},
	"HP001":     {"hp-with-pipes", "vsphere-latest", "HP001"},
	"HP002":     {"01-vsphere-tag-only", "after-update-unread", "DATA002"},
	"HP003":     {"02-azuredisk-windows-hp-tag", "hp-flag-unknown-version", "HP003"},
	"HP004":     {"smb-operator", "04-digest-unmapped", "SKEW005"},
	"HP005":     {"hops-ebs", "data-version-unknown", "DATA001"},
	"PROXY001":  {"13-wmco-at-work", "proxy-on-a-node-without-wmco", "PROXY001"},
	"PROXY003":  {"01-vsphere-4.19-4.20", "proxy-pipes-of-another-line", "PROXY003"},
	"PROXY004":  {"12-ws2025-ebs", "proxy-wmic-unknown", "PROXY004"},
	"PROXY005":  {"01-vsphere-4.19-4.20", "daemonset-alone", "DATA002"},
	"PROXY007":  {"01-vsphere-4.19-4.20", "daemonset-alone", "DATA002"},
	"REG001":    {"01-vsphere-4.19-4.20", "reg-csinode-missing", "REG001"},
	"REG002":    {"05-three-images-called-driver", "reg-two-daemonsets-maybe", "REG002"},
	"REG003":    {"01-vsphere-4.19-4.20", "reg-registrar-digest", "REG003"},
	"REG004":    {"after-update", "after-update-unread", "DATA002"},
	"REG005":    {"01-vsphere-4.19-4.20", "after-update-unread", "DATA002"},
	"REG006":    {"01-vsphere-4.19-4.20", "after-update-unread", "DATA002"},
	"REG007":    {"01-vsphere-4.19-4.20", "after-update-unread", "DATA002"},
	"INTREE001": {"07-azurefile-in-tree-4.14", "intree-claim-unread", "INTREE001"},
	"INTREE002": {"07-azurefile-in-tree", "daemonset-alone", "DATA002"},
	"INTREE003": {"07-azurefile-in-tree-4.14", "daemonset-alone", "DATA002"},
	"INTREE004": {"hops-vsphere", "after-update-unread", "DATA002"},
	"INTREE005": {"01-vsphere-4.19-4.20", "intree-claim-unread", "INTREE001"},
	"AFTER001":  {"after-update", "after-update-unread", "DATA002"},
	"AFTER002":  {"after-update", "after-update-unread", "DATA002"},
	"AFTER003":  {"after-update", "after-update-claim-unread", "AFTER003"},
	"AFTER004":  {"after-update", "after-update-unread", "DATA002"},
	"NODE001":   {"after-update-rolling", "node-kubelet-unreadable", "NODE001"},
	"NODE002":   {"01-vsphere-4.19-4.20", "node-kubelet-unreadable", "NODE002"},
	"NODE003":   {"12-ws2025-ebs", "daemonset-alone", "DATA002"},
	"NODE004":   {"after-update", "daemonset-alone", "DATA002"},
	"NODE005":   {"after-update", "daemonset-alone", "DATA002"},
	"NODE006":   {"01-vsphere-4.19-4.20", "daemonset-alone", "DATA002"},
	"NODE007":   {"after-update", "daemonset-alone", "DATA002"},
	"POLICY001": {"after-update", "after-update-unread", "DATA002"},
	"UPDATE001": {"01-vsphere-4.19-4.20", "data-release-not-named", "DATA001"},
	"UPDATE002": {"after-update", "after-update-unread", "DATA002"},
	"UPDATE003": {"01-vsphere-4.19-4.20", "data-release-not-named", "DATA001"},
	"UPDATE005": {"01-vsphere-4.19-4.20", "data-release-not-named", "DATA001"},
	"UPDATE004": {"01-vsphere-4.19-4.20", "data-release-not-named", "DATA001"},
	"DATA001":   {"15-release-text", "data-version-unknown", "DATA001"},
	"DATA002":   {"01-vsphere-4.19-4.20", "daemonset-alone", "DATA002"},
}

// Every rule is shown firing in the state that its explanation names, quiet and
// unable to tell.
func TestEveryRuleIsShown(t *testing.T) {
	severity := map[string]finding.Severity{}
	for _, r := range skew.Rules() {
		severity[r.ID] = r.Severity
		s, ok := rulesShown[r.ID]
		if !ok {
			t.Errorf("%s: no example shows it", r.ID)
			continue
		}
		s.check(t, r)
	}
	for id := range rulesShown {
		if _, ok := severity[id]; !ok {
			t.Errorf("%s is shown, and there is no such rule", id)
		}
	}
}

func (s shown) check(t *testing.T, r skew.Rule) {
	t.Helper()
	// A rule that never gives more than INFO fires with it; what others say as
	// INFO is no more than good to know.
	least := min(r.Severity, finding.Warn)
	fires := answer(t, r.Shown)
	if !fires.says(r.ID, func(v finding.Severity) bool { return v >= least }) {
		t.Errorf("%s: %s doesn't show it firing", r.ID, r.Shown)
	}
	if !fires.needs(r.ID, least) {
		t.Errorf("%s: in %s all that it asks for another rule asks for as loudly", r.ID, r.Shown)
	}
	quiet := answer(t, s.quiet)
	if !slices.Contains(quiet.Evaluated, r.ID) || quiet.says(r.ID, func(v finding.Severity) bool { return v >= least }) {
		t.Errorf("%s: %s doesn't show it evaluated and quiet", r.ID, s.quiet)
	}
	unknown := answer(t, s.unknown)
	if !unknown.says(s.by, func(v finding.Severity) bool { return v == finding.Unknown }) {
		t.Errorf("%s: %s has no UNKNOWN by %s", r.ID, s.unknown, s.by)
	}
	listed := slices.ContainsFunc(unknown.NotEvaluated, func(n skew.NotEvaluated) bool { return n.Rule == r.ID })
	if s.by == "DATA002" && r.ID != s.by && !listed {
		t.Errorf("%s: %s doesn't list it as not evaluated", r.ID, s.unknown)
	}
}

// report is the part of an answer that is looked at.
type report skewreport.Document

func answer(t *testing.T, example string) *report {
	t.Helper()
	return decoded(t, readExample(t, filepath.Join("testdata", example, "cmd")).json(t))
}

// answers are the examples' answers with -o json, by folder.
var answers = map[string]string{}

// json is the answer with -o json; "" where the command can't run.
func (e example) json(t *testing.T) string {
	t.Helper()
	if _, known := answers[e.dir]; !known && e.exit != 1 {
		t.Run("answer of "+e.dir, func(t *testing.T) {
			t.Chdir(e.dir)
			out := run(t, append(slices.Clone(e.args), "-o", "json")...)
			if out.exit != e.exit {
				t.Errorf("exit code %d with -o json, want %d", out.exit, e.exit)
			}
			answers[e.dir] = out.stdout
		})
	}
	return answers[e.dir]
}

func decoded(t *testing.T, text string) *report {
	t.Helper()
	var r report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	return &r
}

// needs tells whether a rule's finding changes what an admin does: no other rule asks
// for the same, or it isn't as severe.
func (r *report) needs(id string, least finding.Severity) bool {
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		return f.ID == id && f.Severity >= least && f.Remedy != "" && !slices.ContainsFunc(r.Findings, func(other finding.Finding) bool {
			return other.ID != id && other.Severity >= f.Severity && other.Remedy == f.Remedy
		})
	})
}

// says tells whether there is a finding of the rule, with a severity that which
// takes; for an accepted one the severity that it had.
func (r *report) says(id string, which func(finding.Severity) bool) bool {
	for _, f := range r.Findings {
		if f.ID == id && which(f.Severity) {
			return true
		}
	}
	return false
}
