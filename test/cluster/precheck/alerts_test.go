package precheck_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// job is a run of a check, as kube-state-metrics tells of it. Minutes are of the test.
type job struct {
	check      string
	start, end int // minutes; end 0: it runs on
	// outcome is "" for success, failed for a verdict, no answer for a run that was tried
	// until its deadline.
	outcome string
	gone    int // when its history was cleaned; 0: not
}

const (
	failed   = "failed"
	noAnswer = "no answer"
)

// hourly are runs of all checks that begin at a minute. What fails at BLOCK fails the
// other checks too, and so on.
func hourly(at int, verdict string) []job {
	fails := map[string][]string{"BLOCK": {"block", "unknown", "warn"}, "UNKNOWN": {"unknown", "warn"}, "WARN": {"warn"}}[verdict]
	var list []job
	for i, check := range []string{"block", "unknown", "warn"} {
		j := job{check: check, start: at + 20*i, end: at + 20*i + 2}
		if slices.Contains(fails, check) {
			j.outcome = failed
		}
		if verdict == noAnswer {
			j.outcome, j.end = noAnswer, j.start+15
		}
		list = append(list, j)
	}
	return list
}

// series are what a job makes, a value a minute.
func (j job) series(minutes int) map[string]string {
	labels := fmt.Sprintf(`{namespace="winbake-precheck", job="kube-state-metrics", job_name="winbake-precheck-%s-%d"`, j.check, 29700000+j.start)
	values := func(of func(minute int) string) string {
		var list []string
		for m := range minutes {
			value := "_"
			if m >= j.start && (j.gone == 0 || m < j.gone) {
				value = of(m)
			} else if j.gone > 0 && m == j.gone {
				value = "stale"
			}
			list = append(list, value)
		}
		return strings.Join(list, " ")
	}
	is := func(yes bool) string {
		if yes {
			return "1"
		}
		return "0"
	}
	over := func(m int) bool { return j.end > 0 && m >= j.end }
	all := map[string]string{
		"kube_job_status_start_time" + labels + "}": values(func(int) string { return fmt.Sprint(60 * j.start) }),
		"kube_job_status_active" + labels + "}":     values(func(m int) string { return is(!over(m)) }),
	}
	switch j.outcome {
	case failed:
		all["kube_job_status_failed"+labels+`, reason=""}`] = values(func(m int) string { return is(over(m)) })
	case noAnswer:
		all["kube_job_status_failed"+labels+`, reason="DeadlineExceeded"}`] = values(func(m int) string { return is(over(m)) })
	default:
		all["kube_job_status_failed"+labels+"}"] = values(func(int) string { return "0" })
	}
	return all
}

// TestAlerts runs the manifests' rules by Prometheus' own tool over what
// kube-state-metrics says of Jobs: a verdict's alert fires until a later run of the same
// check ends well, a run that gave no answer changes nothing, and without answers the
// alert on that fires.
func TestAlerts(t *testing.T) {
	const blocked, unknown, warning, absent = "WinbakeUpdateBlocked", "WinbakeUpdateUnknown", "WinbakeUpdateWarning", "WinbakePrecheckAbsent"
	type firing map[int][]string // by minute
	cases := map[string]struct {
		jobs []job
		want firing
	}{
		"all is well":               {slices.Concat(hourly(1, ""), hourly(61, "")), firing{5: nil, 50: nil, 110: nil}},
		"BLOCK":                     {slices.Concat(hourly(1, "BLOCK"), hourly(61, "BLOCK")), firing{2: nil, 10: {blocked}, 50: {blocked}, 61: {blocked}, 110: {blocked}}},
		"UNKNOWN":                   {hourly(1, "UNKNOWN"), firing{10: nil, 30: {unknown}, 50: {unknown}}},
		"WARN":                      {hourly(1, "WARN"), firing{30: nil, 50: {warning}}},
		"BLOCK, then well":          {slices.Concat(hourly(1, "BLOCK"), hourly(61, "")), firing{50: {blocked}, 62: {blocked}, 65: {unknown}, 90: {warning}, 110: nil}},
		"well, then BLOCK":          {slices.Concat(hourly(1, ""), hourly(61, "BLOCK")), firing{50: nil, 70: {blocked}}},
		"BLOCK, then no answer":     {slices.Concat(hourly(1, "BLOCK"), hourly(61, noAnswer)), firing{50: {blocked}, 70: {blocked}, 118: {blocked}}},
		"no answer, then well":      {slices.Concat(hourly(1, noAnswer), hourly(61, "")), firing{50: nil, 110: nil}},
		"a history that is cleaned": {[]job{{check: "block", start: 1, end: 3, outcome: failed, gone: 70}, {check: "block", start: 61, end: 63}}, firing{10: {blocked}, 66: nil, 80: nil}},
		"no answer for hours":       {slices.Concat(hourly(1, ""), hourly(61, noAnswer), hourly(121, noAnswer), hourly(181, noAnswer), hourly(241, noAnswer), hourly(301, noAnswer)), firing{50: nil, 180: nil, 305: {absent}}},
		"nothing runs":              {nil, firing{100: nil, 125: {absent}}},
	}
	var file struct {
		RuleFiles []string         `json:"rule_files"`
		Tests     []map[string]any `json:"tests"`
	}
	file.RuleFiles = []string{"rules.yaml"}
	for name, c := range cases {
		var input, want []map[string]any
		for _, j := range c.jobs {
			for s, values := range j.series(360) {
				input = append(input, map[string]any{"series": s, "values": values})
			}
		}
		for minute, alerts := range c.want {
			var samples []map[string]any
			for _, a := range alerts {
				samples = append(samples, map[string]any{"labels": `{alertname="` + a + `"}`, "value": 1})
			}
			// What fires has the label that oc looks for, and is of the namespace.
			expr := `count by (alertname) (ALERTS{alertstate="firing", openShiftUpdatePrecheck="true", namespace="winbake-precheck"})`
			want = append(want, map[string]any{"expr": expr, "eval_time": fmt.Sprintf("%dm", minute), "exp_samples": samples})
		}
		file.Tests = append(file.Tests, map[string]any{"name": name, "interval": "1m", "input_series": input, "promql_expr_test": want})
	}
	dir := t.TempDir()
	var rule struct {
		Spec any `json:"spec"`
	}
	must(t, yaml.Unmarshal(manifest(t, "prometheus-rule"), &rule))
	write(t, filepath.Join(dir, "rules.yaml"), rule.Spec)
	write(t, filepath.Join(dir, "test.yaml"), file)
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), "promtool", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	page, err := os.ReadFile("../../../docs/precheck.md")
	must(t, err)
	for _, alert := range []string{blocked, unknown, warning, absent} {
		if !strings.Contains(string(page), "\n### "+alert+"\n") {
			t.Errorf("docs/precheck.md has no part %s, which the alert's runbook_url names", alert)
		}
	}
}

func manifest(t *testing.T, name string) []byte {
	t.Helper()
	return file(t, rendered(t), name)
}

func write(t *testing.T, path string, what any) {
	t.Helper()
	src, err := yaml.Marshal(what)
	must(t, err)
	must(t, os.WriteFile(path, src, 0o644))
}
