package node

import (
	"os"
	"strings"
	"testing"

	rules "github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/test/wine/winenode"
)

// The commands of docs/node.md that are for a node, in their order.
func TestDocumentedCommandsRun(t *testing.T) {
	data, err := os.ReadFile("../../../docs/node.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "```bat\n")
	block, _, _ := strings.Cut(rest, "```")
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	ran := 0
	for line := range strings.Lines(block) {
		words := strings.Fields(line)
		if len(words) < 4 || words[0] != `C:\>` || words[1] != "verify.exe" || words[2] != "node" {
			t.Fatalf("not a command: %s", line)
		}
		for i, w := range words {
			if w == `D:\payload` {
				words[i] = current
			}
		}
		n.must(words[3:]...)
		ran++
	}
	if ran < 4 {
		t.Errorf("only %d commands were found", ran)
	}
}

func TestDocumentNamesEveryCheck(t *testing.T) {
	data, err := os.ReadFile("../../../docs/node.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rules.Rules {
		if !strings.Contains(string(data), "`"+r.ID+"`") {
			t.Errorf("docs/node.md doesn't have %s (%s)", r.ID, r.Title)
		}
	}
}
