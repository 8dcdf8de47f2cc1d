package walkthrough

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPages runs the blocks of each page in their order. A block must end with
// 0, and print the lines that the page shows behind it.
func TestPages(t *testing.T) {
	for _, file := range pages(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			var c *cluster
			var n *node
			out := ""
			for _, p := range parse(t, file) {
				switch {
				case p.kind != nil:
					c = start(t, *p.kind)
				case p.fence == runs:
					out = c.runs(t, p)
				case p.fence == onNode:
					if n == nil {
						n = startNode(t)
					}
					out = n.run(t, p)
				case p.fence == prints:
					compare(t, p, out)
				case p.fence == notRun:
					c.played(t, p.text)
				}
				if t.Failed() {
					return // what follows builds on it
				}
			}
		})
	}
}

// runs runs one block.
func (c *cluster) runs(t *testing.T, p part) string {
	t.Helper()
	if c == nil {
		t.Fatalf("%s: the page names no cluster before it", p.at)
	}
	c.settle(t)
	out, exit := c.sh(t, p.text)
	if exit != 0 {
		t.Errorf("%s: exit %d\n%s\n%s", p.at, exit, p.text, out)
	}
	return out
}

// compare looks for each line that a page shows; columns are of any width, and
// ... stands for anything.
func compare(t *testing.T, p part, out string) {
	t.Helper()
	spaces := regexp.MustCompile(`[ \t]+`)
	folded := spaces.ReplaceAllString(out, " ")
	for want := range strings.Lines(p.text) {
		want = strings.TrimSpace(want)
		if want == "" || want == "..." {
			continue
		}
		pattern := strings.ReplaceAll(regexp.QuoteMeta(spaces.ReplaceAllString(want, " ")), `\.\.\.`, `.*`)
		if !regexp.MustCompile(`(?m)^ ?` + pattern).MatchString(folded) {
			t.Errorf("%s: %q isn't in\n%s", p.at, want, out)
		}
	}
}

var upgrade = regexp.MustCompile(`oc adm upgrade --to=(\d+\.\d+\.\d+)`)

// played does to the cluster what a block that doesn't run would have done.
func (c *cluster) played(t *testing.T, text string) {
	t.Helper()
	if m := upgrade.FindStringSubmatch(text); m != nil {
		c.update(t, m[1])
	}
}
