package clusterfiles

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPrecheckNeedsARelease: the CronJobs can't find out which update is meant.
func TestPrecheckNeedsARelease(t *testing.T) {
	args := []string{"manifests", "precheck", "--image", "registry.example.com/verify@sha256:" + strings.Repeat("1", 64), "--out", filepath.Join(t.TempDir(), "out")}
	if code, _, stderr := bakeInProcess(t, args...); code != 1 || !strings.Contains(stderr, "fix: --to 4.20") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if code, stdout, stderr := bakeInProcess(t, append(args, "--to", "4.20")...); code != 0 || !strings.Contains(stdout, "create job first-check --from=cronjob/winbake-precheck-warn") {
		t.Errorf("exit %d\n%s%s", code, stdout, stderr)
	}
}
