package states

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/finding"
)

// example is the cluster that the pages of docs/ use, as its API server has it.
func example(t *testing.T) *state {
	t.Helper()
	c := openshift("4.19.12", "VSphere", operator("10.19.1"), offers("4.20.9"))
	c.nodes = c.nodes[:1]
	files, err := filepath.Glob("../../../examples/cluster-4.19-vsphere/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range strings.SplitSeq(string(text), "\n---\n") {
			var o fields
			if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
				t.Fatal(err)
			}
			c.extra = append(c.extra, o)
		}
	}
	return &state{name: "the example", cluster: c, to: "4.20"}
}

// TestExample takes the example's cluster from WARN to PASS with the script of
// `verify skew plan`, and back.
func TestExample(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	path, kubectl := tools(t)
	s := example(t)
	server.load(t, s)
	verdict := func(args ...string) finding.Severity {
		return judge(t, append([]string{"--kubeconfig", server.kubeconfig}, args...)).Verdict
	}
	if v := verdict("--to", "4.20"); v != finding.Warn {
		t.Errorf("before the plan it says %s", v)
	}
	if outcome, ground := s.runPlan(t, server, path, kubectl); outcome != works {
		t.Fatalf("%s\n%s", outcome, ground)
	}
	if v := verdict(); v != finding.Warn {
		t.Errorf("after the way back it says %s", v)
	}
}
