//go:build e2e

package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// noVersion are the programs that know no --version: they start with --help.
// csi-proxy writes its version to its log (test/winenode reads it there).
var noVersion = map[string]bool{"csi-proxy.exe": true, "kube-log-runner.exe": true}

// checkStart starts every program of the clone's payload in Wine, and has the
// version that each gives compared with its pin.
func checkStart(t *testing.T, c clone) {
	t.Helper()
	c.run(t, "bin/bake", "payload", "--format", "flat", "--dir", "_output/run")
	var programs []string
	for _, pattern := range []string{"*.exe", "*/*.exe"} {
		found, err := filepath.Glob(filepath.Join(c.dir, "_output/run", pattern))
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, found...)
	}
	const all = 12 // of versions.yaml
	if len(programs) != all {
		t.Fatalf("the payload has the programs %q, want %d", programs, all)
	}
	out, _ := c.run(t, "bin/verify", append([]string{"binary", "--run", "-v", "-f", "versions.yaml"}, programs...)...)
	for _, p := range programs {
		severity := "PASS    "
		if noVersion[filepath.Base(p)] {
			severity = "INFO    "
		}
		if !strings.Contains(out, severity+"binary.run  "+p+"\n") {
			t.Errorf("%s didn't give its version:\n%s", p, out)
		}
	}
}
