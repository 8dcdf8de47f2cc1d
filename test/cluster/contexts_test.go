package cluster_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/winbake/winbake/test/apiserver"
)

// fleetConfig is a kubeconfig with two contexts of this server and one of a
// server that is away.
func fleetConfig(t *testing.T, s *apiserver.Server) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	own := config.Contexts[config.CurrentContext]
	config.Clusters["away"] = &api.Cluster{Server: "https://127.0.0.1:1"}
	config.Contexts = map[string]*api.Context{"east": own, "west": own.DeepCopy(), "away": {Cluster: "away", AuthInfo: own.AuthInfo}}
	config.CurrentContext = ""
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

// testContexts: several clusters have a line each, and those that can't be read
// don't keep the others from it.
func testContexts(t *testing.T, s *apiserver.Server) {
	noGates(t, s)
	one := skew(t, "--kubeconfig", s.Kubeconfig)
	args := []string{"skew", "--from", "4.19", "--to", "4.20", "--kubeconfig", fleetConfig(t, s), "--contexts"}
	r := run(t, append(args, "all")...)
	lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
	if r.exit != 4 || len(lines) != 6 || !strings.HasPrefix(lines[0], "CONTEXT") || !strings.Contains(lines[1], "the API server doesn't answer") ||
		!strings.HasPrefix(lines[2], "east") || !strings.Contains(lines[2], one.Verdict) || !strings.HasPrefix(lines[4], "3 clusters: 1 UNKNOWN") {
		t.Errorf("exit %d\n%s%s", r.exit, r.stdout, r.stderr)
	}
	r = run(t, append(args, "west,gone", "-o", "json")...)
	var list struct {
		APIVersion, Kind string
		Items            []struct {
			Context, Verdict, Error string
			Report                  *answer
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &list); err != nil || len(list.Items) != 2 || list.Kind != "SkewReportList" {
		t.Fatalf("%v\n%s%s", err, r.stdout, r.stderr)
	}
	if west := list.Items[0]; west.Report == nil || west.Report.String() != (&answer{Verdict: one.Verdict, Findings: one.Findings}).String() || west.Error != "" {
		t.Errorf("%+v\n%s", west, one)
	}
	if gone := list.Items[1]; gone.Verdict != "UNKNOWN" || gone.Report != nil || !strings.Contains(gone.Error, `there is no context "gone"`) {
		t.Errorf("%+v", gone)
	}
	page := run(t, append(args, "east,away", "-o", "html")...)
	if page.exit != 4 || strings.Count(page.stdout, "<details") != 2 || !strings.Contains(page.stdout, "HP005") {
		t.Errorf("exit %d\n%s%s", page.exit, page.stdout, page.stderr)
	}
	for _, more := range [][]string{{"--context", "west"}, {"--manifests", example}, {"-o", "sarif"}} {
		if r := run(t, append(append(args, "all"), more...)...); r.exit != 1 || r.stdout != "" || strings.Count(r.stderr, "fix: ") != 1 {
			t.Errorf("%v: exit %d\n%s%s", more, r.exit, r.stdout, r.stderr)
		}
	}
}
