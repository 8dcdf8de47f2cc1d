package node

import (
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/util/jsonpath"

	rules "github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/test/winenode"
)

// The commands of docs/node.md that need a node, in their order.
func TestDocumentedCommandsRun(t *testing.T) {
	data, err := os.ReadFile("../../docs/node.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```sh\n")
	block, _, _ := strings.Cut(rest, "```")
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	ran := 0
	for line := range strings.Lines(block) {
		words := strings.Fields(strings.TrimPrefix(line, "$ "))
		tool, ok := strings.CutPrefix(words[0], "bin/")
		if !ok {
			t.Fatalf("not a command: %s", line)
		}
		if i := slices.Index(words, "_output/docs-node"); i > 0 {
			words[i] = current
		}
		i := slices.Index(words, "--ssh") // the node's own comes in its place
		words = slices.Delete(words, i, i+2)
		n.must(tool, words[1:]...)
		ran++
	}
	if ran < 4 {
		t.Errorf("only %d commands were found", ran)
	}
}

// The command that lists the nodes of a cluster prints the addresses of those.
func TestNodesOfACluster(t *testing.T) {
	data, err := os.ReadFile("../../docs/node.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "-o jsonpath='")
	path, rest, _ := strings.Cut(rest, "'")
	if !strings.HasPrefix(rest, " |\n") || !strings.Contains(rest, "--hosts -") {
		t.Fatalf("after %s: %s", path, rest)
	}
	j := jsonpath.New("nodes")
	if err := j.Parse(path); err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, ip := range []string{"10.0.0.7", "10.0.0.8"} {
		list = append(list, map[string]any{"status": map[string]any{"addresses": []any{
			map[string]any{"type": "Hostname", "address": "win"}, map[string]any{"type": "InternalIP", "address": ip}}}})
	}
	var out strings.Builder
	if err := j.Execute(&out, map[string]any{"items": list}); err != nil || out.String() != "10.0.0.7\n10.0.0.8\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestDocumentNamesEveryCheck(t *testing.T) {
	data, err := os.ReadFile("../../docs/node.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Rules {
		if !strings.Contains(string(data), "`"+r.ID+"`") {
			t.Errorf("docs/node.md doesn't have %s (%s)", r.ID, r.Title)
		}
	}
}
