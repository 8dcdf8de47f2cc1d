package clusterfiles

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPrecheckTellsOfMonitoring: without the switch that a default cluster hasn't
// got nothing reads the metrics, so the run says how it's set, the way that writes
// over nobody's settings included.
func TestPrecheckTellsOfMonitoring(t *testing.T) {
	code, stdout, stderr := bakeInProcess(t, "manifests", "precheck", "--image", "registry.example.com/verify@sha256:"+strings.Repeat("1", 64), "--out", filepath.Join(t.TempDir(), "out"))
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	if !strings.Contains(stdout, "\n"+switchMonitoringOn+"\noc adm upgrade recommend\n") {
		t.Errorf("stdout:\n%s", stdout)
	}
	if !strings.Contains(stderr, "oc -n openshift-monitoring edit configmap cluster-monitoring-config") || !strings.Contains(stderr, monitoringOn) {
		t.Errorf("stderr:\n%s", stderr)
	}
}
