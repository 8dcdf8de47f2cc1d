package cluster_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/cluster/apiserver"
)

// testServices: verify services finds the ConfigMap in a cluster and in its
// must-gather, as it is declared and as somebody changed it.
func testServices(t *testing.T, s *apiserver.Server) {
	const version = "10.20.2-5f4e3d2"
	live := declare(t, version, nil)
	s.Load(t, live)
	changed := declare(t, version, func(text []byte) []byte { return bytes.Replace(text, []byte("--v=2"), []byte("--v=4"), 1) })
	for name, flags := range map[string][]string{
		"cluster":     {"--kubeconfig", s.Kubeconfig},
		"must-gather": {"--must-gather", gather(t, s)},
	} {
		if r := run(t, append([]string{"services", live}, flags...)...); r.exit != 0 || !strings.Contains(r.stdout, "windows-services-"+version) {
			t.Errorf("%s: exit %d\n%s%s", name, r.exit, r.stdout, r.stderr)
		}
		if r := run(t, append([]string{"services", changed}, flags...)...); r.exit != 3 || !strings.Contains(r.stdout, "services.differs") {
			t.Errorf("%s, changed: exit %d\n%s%s", name, r.exit, r.stdout, r.stderr)
		}
	}
}

// declare writes what bake declares, edited.
func declare(t *testing.T, version string, edit func([]byte) []byte) string {
	t.Helper()
	cmd := built.Command(t, "bake", "manifests", "windows-services", "-f", "../../versions.yaml", "--wmco-version", version)
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	if edit != nil {
		edited := edit(text)
		if bytes.Equal(edited, text) {
			t.Fatal("the edit changes nothing")
		}
		text = edited
	}
	file := filepath.Join(t.TempDir(), "services.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
