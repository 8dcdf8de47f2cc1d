package precheck_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/test/apiserver"
	"github.com/winbake/winbake/test/await"
)

// testAlerts: what the command serves of a cluster, as it is, broken, fixed and
// unreadable, goes through the manifests' rules.
func testAlerts(t *testing.T, s *apiserver.Server) {
	a := newApplier(t, s)
	c := run(t, "skew", "precheck", "--listen", "127.0.0.1:0", "--interval", "1h", "--settle", "50ms", "--log-format", "json",
		"--kubeconfig", s.WriteKubeconfig(t, account(t, s)))
	got := map[string]map[string]string{}
	snapshot := func(name, verdict string) {
		awaitVerdict(t, c.url, map[string]string{"4.20.3": verdict})
		got[name] = metrics(t, c.url)
	}
	snapshot("as it is", "2")
	sets := a.typed.AppsV1().DaemonSets("openshift-cluster-csi-drivers")
	const windows = "vmware-vsphere-csi-driver-node-windows"
	d, err := sets.Get(t.Context(), windows, metav1.GetOptions{})
	must(t, err)
	old := d.DeepCopy()
	// The tag alone, which doesn't make it a HostProcess container.
	d.Spec.Template.Spec.Containers[1].Image = strings.Replace(d.Spec.Template.Spec.Containers[1].Image, "v3.3.0", "v3.5.0", 1)
	_, err = sets.Update(t.Context(), d, metav1.UpdateOptions{})
	must(t, err)
	snapshot("broken", "4")
	d, err = sets.Get(t.Context(), windows, metav1.GetOptions{})
	must(t, err)
	d.Spec.Template.Spec.Containers[1].Image = old.Spec.Template.Spec.Containers[1].Image
	d, err = sets.Update(t.Context(), d, metav1.UpdateOptions{})
	must(t, err)
	ready(t, a, d, 0)
	await.True(t, "a warning to act on first", func() bool { return concern(metrics(t, c.url)) == "2" })
	got["warned"] = metrics(t, c.url)
	must(t, sets.Delete(t.Context(), windows, metav1.DeleteOptions{}))
	_, err = sets.Create(t.Context(), fitting(t), metav1.CreateOptions{})
	must(t, err)
	// As the plan has it: the update, and then WMCO and the driver that fits.
	kubelet(t, a, "v1.33.5")
	setStatus(t, s, "history", []any{map[string]any{"version": "4.20.3", "state": "Completed"}})
	offer(t, s, "4.20.9")
	awaitVerdict(t, c.url, map[string]string{"4.20.9": "0"})
	got["fixed"] = metrics(t, c.url)
	kubelet(t, a, "v1.32.9")
	setStatus(t, s, "history", []any{map[string]any{"version": "4.19.12", "state": "Completed"}})
	offer(t, s, "4.20.3")
	must(t, sets.Delete(t.Context(), windows, metav1.DeleteOptions{}))
	old.ResourceVersion, old.UID = "", ""
	_, err = sets.Create(t.Context(), old, metav1.CreateOptions{})
	must(t, err)
	await.True(t, "the cluster as it was", func() bool { return maps.Equal(judged(got["as it is"]), judged(metrics(t, c.url))) })
	// Half of the rights go: of the drivers nothing is known.
	must(t, a.typed.RbacV1().ClusterRoleBindings().Delete(t.Context(), "winbake-precheck", metav1.DeleteOptions{}))
	offer(t, s, "4.20.3") // nothing new, and nobody could see it
	d, err = sets.Get(t.Context(), windows, metav1.GetOptions{})
	must(t, err)
	d.Labels = map[string]string{"touched": "yes"}
	_, err = sets.Update(t.Context(), d, metav1.UpdateOptions{})
	must(t, err)
	awaitVerdict(t, c.url, map[string]string{"": unknown})
	got["unreadable"] = metrics(t, c.url)
	must(t, a.apply(t.Context(), file(t, rendered(t), "cluster-role-binding")))
	c.stop(t)
	got["starting"] = beforeTheFirst(t, s)
	got["stale"] = staled(t, got["broken"])
	got["breaking"] = maps.Clone(got["broken"]) // the same, if the update made it
	for series := range got["breaking"] {
		if strings.Contains(series, "_concern{") {
			got["breaking"][series] = "4"
		}
	}
	promtool(t, got)
}

// beforeTheFirst is what is served while the first evaluation runs.
func beforeTheFirst(t *testing.T, s *apiserver.Server) map[string]string {
	t.Helper()
	config := s.WriteKubeconfig(t, account(t, s))
	s.Pause()
	defer s.Resume()
	c := run(t, "skew", "precheck", "--listen", "127.0.0.1:0", "--kubeconfig", config)
	defer c.stop(t)
	return metrics(t, c.url)
}

// staled is what is served once the last evaluation that succeeded is too old:
// the same updates, each UNKNOWN.
func staled(t *testing.T, served map[string]string) map[string]string {
	t.Helper()
	out := maps.Clone(served)
	for series := range served {
		switch {
		case strings.Contains(series, "_findings{"):
			delete(out, series)
		case strings.Contains(series, "_verdict{"), strings.Contains(series, "_concern{"):
			out[series] = unknown
		case strings.Contains(series, "_last_evaluation_success"):
			out[series] = "0"
		}
	}
	if len(out) == len(served) || len(out) == 0 {
		t.Fatalf("%v", served)
	}
	return out
}

// judged are the series that the cluster alone decides.
func judged(all map[string]string) map[string]string {
	out := map[string]string{}
	for series, value := range all {
		if strings.Contains(series, "_verdict{") || strings.Contains(series, "_findings{") {
			out[series] = value
		}
	}
	return out
}

// concern is what the metrics tell of the one offered update.
func concern(all map[string]string) string {
	for series, value := range all {
		if strings.HasPrefix(series, "winbake_precheck_concern{") {
			return value
		}
	}
	return ""
}

// ready has so many of a DaemonSet's pods ready; one is wanted.
func ready(t *testing.T, a *applier, d *appsv1.DaemonSet, n int32) {
	t.Helper()
	d.Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: 1, CurrentNumberScheduled: 1, UpdatedNumberScheduled: 1, NumberReady: n, ObservedGeneration: d.Generation}
	_, err := a.typed.AppsV1().DaemonSets(d.Namespace).UpdateStatus(t.Context(), d, metav1.UpdateOptions{})
	must(t, err)
	// Changes of a status aren't watched: they come with the interval.
	d, err = a.typed.AppsV1().DaemonSets(d.Namespace).Get(t.Context(), d.Name, metav1.GetOptions{})
	must(t, err)
	d.Labels = map[string]string{"ready": fmt.Sprint(n)}
	_, err = a.typed.AppsV1().DaemonSets(d.Namespace).Update(t.Context(), d, metav1.UpdateOptions{})
	must(t, err)
}

// fitting is the DaemonSet that `bake manifests csi-driver vsphere --for 4.20`
// writes.
func fitting(t *testing.T) *appsv1.DaemonSet {
	t.Helper()
	release, err := version.ParseOpenShift("4.20.3")
	must(t, err)
	folder, err := csidriver.Render(known(t), csidriver.Options{Driver: "vsphere", For: release})
	must(t, err)
	for _, f := range folder.Files {
		if strings.Contains(f.Name, "daemonset") {
			d := &appsv1.DaemonSet{}
			must(t, yaml.UnmarshalStrict(f.Data, d))
			return d
		}
	}
	t.Fatal("no DaemonSet")
	return nil
}

// kubelet has the Windows node run another one.
func kubelet(t *testing.T, a *applier, version string) {
	t.Helper()
	nodes := a.typed.CoreV1().Nodes()
	n, err := nodes.Get(t.Context(), "winworker-1", metav1.GetOptions{})
	must(t, err)
	n.Status.NodeInfo.KubeletVersion = version
	_, err = nodes.UpdateStatus(t.Context(), n, metav1.UpdateOptions{})
	must(t, err)
}

// promCase is a test of `promtool test rules`:
// https://prometheus.io/docs/prometheus/latest/configuration/unit_testing_rules/
type promCase struct {
	Name     string       `json:"name"`
	Interval string       `json:"interval"`
	Series   []promSeries `json:"input_series"`
	Alerts   []promAlert  `json:"alert_rule_test"`
}

type promSeries struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type promAlert struct {
	At   string      `json:"eval_time"`
	Name string      `json:"alertname"`
	Want []promFired `json:"exp_alerts,omitempty"`
}

type promFired struct {
	Labels      map[string]string `json:"exp_labels"`
	Annotations map[string]string `json:"exp_annotations"`
}

// fired are the alerts that the metrics of each case make, and what an
// administrator reads. No other fires, and none for the cluster as it is: its
// warning is due after the update.
var fired = map[string]struct {
	alert, severity, minor, summary, description string
	after                                        int // minutes
}{
	"warned": {
		"WinbakeUpdateWarning", "info", "4.20", "Something has to be done before an update to OpenShift 4.20.",
		"The verdict on 1 of the offered updates to OpenShift 4.20 is WARN, or was when it could last be told, and a warning asks for an act before the update. Which, and what to do, says: verify skew --to 4.20.", 1},
	"broken": {
		"WinbakeUpdateBlocked", "warning", "4.20", "Windows CSI drivers don't work now, so an update to OpenShift 4.20 has to wait.",
		"The verdict on 1 of the offered updates to OpenShift 4.20 is BLOCK, or was when it could last be told: something doesn't work on Windows nodes already, and the update breaks nothing more. What, and how to fix it, says: verify skew --to 4.20.", 1},
	"breaking": {
		"WinbakeUpdateBlocked", "warning", "4.20", "Windows CSI drivers break with an update to OpenShift 4.20.",
		"The verdict on 1 of the offered updates to OpenShift 4.20 is BLOCK, or was when it could last be told: something that Windows nodes do now stops working, by a known ground. What, and what to do before the update, says: verify skew --to 4.20.", 1},
	"unreadable": {
		"WinbakeUpdateUnknown", "warning", "", "It can't be told whether an update is safe for Windows CSI drivers.",
		"The verdict on 1 of the offered updates is UNKNOWN: something couldn't be read, isn't known, or the last evaluation that succeeded is too old. What is missing says: verify skew; why an evaluation failed says the log of the Deployment winbake-precheck.", 16},
	"stale": {
		"WinbakeUpdateUnknown", "warning", "4.20", "It can't be told whether an update to OpenShift 4.20 is safe for Windows CSI drivers.",
		"The verdict on 1 of the offered updates to OpenShift 4.20 is UNKNOWN: something couldn't be read, isn't known, or the last evaluation that succeeded is too old. What is missing says: verify skew --to 4.20; why an evaluation failed says the log of the Deployment winbake-precheck.", 16},
	"gone": {
		"WinbakePrecheckAbsent", "warning", "", "Nobody looks whether an update is safe for Windows CSI drivers.",
		"The Deployment winbake-precheck tells nothing: it doesn't run, has ended no evaluation since it began, or Prometheus doesn't reach it. Until it does: verify skew --to RELEASE.", 16},
}

var alertNames = []string{"WinbakeUpdateBlocked", "WinbakeUpdateUnknown", "WinbakeUpdateWarning", "WinbakePrecheckAbsent"}

// promtool runs Prometheus' own tool over the rules and what was served.
func promtool(t *testing.T, got map[string]map[string]string) {
	t.Helper()
	dir := t.TempDir()
	var rule struct {
		Spec any `json:"spec"`
	}
	must(t, yaml.Unmarshal(file(t, rendered(t), "prometheus-rule"), &rule))
	write(t, filepath.Join(dir, "rules.yaml"), rule.Spec)
	got["gone"] = nil
	if got["starting"]["winbake_precheck_last_evaluation_timestamp_seconds"] != "0" {
		t.Errorf("before the first evaluation: %v", got["starting"])
	}
	var cases []promCase
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if name != "starting" { // nothing stays like that; a sequence has it
			cases = append(cases, caseOf(name, got[name]))
		}
	}
	// Two pods tell of each update while one takes the other's place.
	rollout := caseOf("broken", got["broken"])
	rollout.Name = "broken, during a rollout"
	for _, s := range rollout.Series {
		rollout.Series = append(rollout.Series, promSeries{strings.Replace(s.Series, `pod="a"`, `pod="b"`, 1), s.Values})
	}
	cases = append(cases, rollout)
	for name, q := range sequences {
		cases = append(cases, q.test(t, name, got))
	}
	write(t, filepath.Join(dir, "test.yaml"), map[string]any{"rule_files": []string{"rules.yaml"}, "evaluation_interval": "1m", "tests": cases})
	for _, args := range [][]string{{"check", "rules", "rules.yaml"}, {"test", "rules", "test.yaml"}} {
		cmd := exec.CommandContext(t.Context(), "promtool", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// phase is something that is served for some minutes.
type phase struct {
	of      string // a key of what was served
	minutes int
}

// span is when an alert fires: from a minute, to one that it doesn't any more.
type span struct {
	of       string // a key of fired
	from, to int
}

// sequence is what is served one after the other. No other alert fires, and none
// at another time.
type sequence struct {
	phases []phase
	fires  []span
	safe   bool // in the end: nothing has to fire
}

// remembered is how many minutes a verdict that isn't told any more fires.
const remembered = 35

// sequences: a BLOCK or a WARN that can't be told any more fires until the alert
// that says so does; one that is fixed, or whose update is offered no more, ends
// at once.
var sequences = map[string]sequence{
	"broken, then unreadable": {[]phase{{"broken", 20}, {"unreadable", 60}},
		[]span{{"broken", 0, 20 + remembered}, {"unreadable", 35, 80}}, false},
	"broken, then stale": {[]phase{{"broken", 20}, {"stale", 60}},
		[]span{{"broken", 0, 20 + remembered}, {"stale", 35, 80}}, false},
	"broken, then gone": {[]phase{{"broken", 20}, {"gone", 60}},
		[]span{{"broken", 0, 20 + remembered}, {"gone", 35, 80}}, false},
	"broken, then unreadable, then gone": {[]phase{{"broken", 20}, {"unreadable", 14}, {"gone", 40}},
		[]span{{"broken", 0, 20 + remembered}, {"gone", 49, 74}}, false},
	"broken, then starting over and over": {[]phase{{"broken", 20}, {"gone", 5}, {"starting", 1}, {"gone", 5}, {"starting", 1}, {"gone", 5}, {"starting", 20}, {"gone", 5}},
		[]span{{"broken", 0, 20 + remembered}, {"gone", 35, 62}}, false},
	"broken, a restart, broken": {[]phase{{"broken", 20}, {"gone", 2}, {"starting", 1}, {"broken", 20}},
		[]span{{"broken", 0, 43}}, false},
	"a warning, then unreadable": {[]phase{{"warned", 20}, {"unreadable", 60}},
		[]span{{"warned", 0, 20 + remembered}, {"unreadable", 35, 80}}, false},
	"broken, then a warning": {[]phase{{"broken", 20}, {"warned", 20}},
		[]span{{"broken", 0, 20}, {"warned", 20, 40}}, false},
	"breaking, then unreadable": {[]phase{{"breaking", 20}, {"unreadable", 60}},
		[]span{{"breaking", 0, 20 + remembered}, {"unreadable", 35, 80}}, false},
	"a warning, then what is due after the update": {[]phase{{"warned", 20}, {"as it is", 20}},
		[]span{{"warned", 0, 20}}, true},
	"broken, a warning, then unreadable": {[]phase{{"broken", 20}, {"warned", 10}, {"unreadable", 10}},
		[]span{{"broken", 0, 20}, {"warned", 20, 40}}, false},
	"broken, then fixed, which is offered other updates": {[]phase{{"broken", 20}, {"fixed", 20}},
		[]span{{"broken", 0, 20}}, true},
	"broken, unreadable, then fixed": {[]phase{{"broken", 20}, {"unreadable", 5}, {"fixed", 20}},
		[]span{{"broken", 0, 25}}, true},
}

// test looks at each alert in each minute.
func (q sequence) test(t *testing.T, name string, got map[string]map[string]string) promCase {
	t.Helper()
	values := map[string][]string{}
	for _, p := range q.phases {
		for series := range got[p.of] {
			values[series] = nil
		}
	}
	minutes := 0
	for _, p := range q.phases {
		for series, before := range values {
			now, told := got[p.of][series]
			for i := range p.minutes {
				switch {
				case told:
					before = append(before, now)
				case i == 0:
					before = append(before, "stale") // as Prometheus notes the end of a series
				default:
					before = append(before, "_")
				}
			}
			values[series] = before
		}
		minutes += p.minutes
	}
	c := promCase{Name: name, Interval: "1m"}
	for _, series := range slices.Sorted(maps.Keys(values)) {
		c.Series = append(c.Series, promSeries{asStored(series), strings.Join(values[series], " ")})
	}
	for minute := range minutes {
		quiet := true
		for _, alert := range alertNames {
			at := promAlert{At: fmt.Sprintf("%dm", minute), Name: alert}
			for _, s := range q.fires {
				if fired[s.of].alert == alert && s.from <= minute && minute < s.to {
					at.Want, quiet = []promFired{firedOf(s.of)}, false
				}
			}
			c.Alerts = append(c.Alerts, at)
		}
		if quiet && !q.safe {
			t.Errorf("%s: nothing fires at minute %d", name, minute)
		}
	}
	return c
}

// asStored is a series as Prometheus stores it: with the labels of the pod that
// it was read of.
func asStored(series string) string {
	metric, labels, _ := strings.Cut(series, "{")
	labels = strings.TrimSuffix(`namespace="winbake-precheck",pod="a",`+labels, "}")
	return metric + "{" + strings.TrimSuffix(labels, ",") + "}"
}

// firedOf is an alert as it fires.
func firedOf(name string) promFired {
	want := fired[name]
	labels := map[string]string{"severity": want.severity, "openShiftUpdatePrecheck": "true"}
	if name != "gone" {
		labels["namespace"] = "winbake-precheck"
	}
	if want.minor != "" {
		labels["minor"] = want.minor
	}
	if want.alert == "WinbakeUpdateBlocked" {
		labels["fault"] = map[string]string{"breaking": "update", "broken": "present"}[name]
	}
	return promFired{labels, map[string]string{
		"summary": want.summary, "description": want.description,
		"runbook_url": "https://github.com/winbake/winbake/blob/main/docs/precheck.md#" + strings.ToLower(want.alert),
	}}
}

// caseOf holds served metrics for an hour.
func caseOf(name string, served map[string]string) promCase {
	c := promCase{Name: name, Interval: "1m"}
	for _, series := range slices.Sorted(maps.Keys(served)) {
		c.Series = append(c.Series, promSeries{asStored(series), served[series] + "x60"})
	}
	want, fires := fired[name]
	for _, alert := range alertNames {
		before, after := promAlert{At: "1m", Name: alert}, promAlert{At: "50m", Name: alert}
		if fires && want.alert == alert {
			after.Want = []promFired{firedOf(name)}
			at := after
			at.At = fmt.Sprintf("%dm", want.after)
			c.Alerts = append(c.Alerts, at)
			if want.after == 1 {
				before = at
			}
		}
		c.Alerts = append(c.Alerts, before, after)
	}
	return c
}

func write(t *testing.T, path string, what any) {
	t.Helper()
	src, err := yaml.Marshal(what)
	must(t, err)
	must(t, os.WriteFile(path, src, 0o644))
}

// The documented metrics are those that are served, and Prometheus' tool finds
// nothing amiss with their names and types.
func testMetrics(t *testing.T, s *apiserver.Server) {
	c := run(t, "skew", "precheck", "--listen", "127.0.0.1:0", "--kubeconfig", s.WriteKubeconfig(t, account(t, s)))
	awaitWatches(t, c.url)
	await.True(t, "an evaluation", func() bool { return len(verdicts(t, c.url)) > 0 })
	_, body := get(t, c.url+"/metrics")
	cmd := exec.CommandContext(t.Context(), "promtool", "check", "metrics")
	cmd.Stdin = strings.NewReader(body)
	if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("promtool check metrics: %v\n%s", err, out)
	}
	page, err := os.ReadFile("../../docs/precheck.md")
	must(t, err)
	served := map[string]bool{}
	for series := range metrics(t, c.url) {
		name, _, _ := strings.Cut(series, "{")
		served[name] = true
	}
	for name := range served {
		if !bytes.Contains(page, []byte("| `"+name+"` |")) {
			t.Errorf("docs/precheck.md has no row for %s", name)
		}
	}
	if rows := bytes.Count(page, []byte("| `winbake_precheck_")); rows != len(served) {
		t.Errorf("docs/precheck.md has rows for %d metrics, and %d are served", rows, len(served))
	}
	for _, alert := range alertNames {
		if !bytes.Contains(page, []byte("\n### "+alert+"\n")) {
			t.Errorf("docs/precheck.md has no part %s, which the alert's runbook_url names", alert)
		}
	}
	c.stop(t)
}
