package walkthrough

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPages runs the blocks of each page in their order. A block must end with
// 0, and print the lines that the page shows behind it.
func TestPages(t *testing.T) {
	for _, page := range pages(t) {
		t.Run(page.name, func(t *testing.T) {
			t.Parallel()
			var c *cluster
			var n *node
			out := ""
			for _, p := range page.parts {
				switch {
				case p.kind != nil:
					c.tidy(t)
					c = start(t, *p.kind)
				case p.fence == runs:
					out = c.runs(t, p)
				case p.fence == onNode:
					if n == nil {
						n = startNode(t)
					}
					out = n.run(t, p)
				case p.fence == prints:
					p.text = c.expand(p.text)
					compare(t, p, out)
				case p.fence == notRun:
					c.played(t, c.expand(p.text))
				}
				if t.Failed() {
					return // what follows builds on it
				}
			}
			c.tidy(t)
		})
	}
}

// domainUser is a name as SMB's driver takes it: as it is.
var domainUser = regexp.MustCompile(`^[^\\]+(\\[^\\]+)?$`)

// tidy looks at what a page leaves behind: no data of a volume that was deleted,
// and each Secret that a volume's driver needs on a node.
func (c *cluster) tidy(t *testing.T) {
	t.Helper()
	if c == nil {
		return
	}
	c.left.Range(func(claim, _ any) bool {
		t.Errorf("the data of claim %s stays at the storage: the Secret was gone before the volume", claim)
		return true
	})
	list, err := c.typed.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pv := range list.Items {
		if pv.Spec.CSI == nil || pv.Spec.CSI.NodeStageSecretRef == nil {
			continue
		}
		ref := pv.Spec.CSI.NodeStageSecretRef
		secret, err := c.typed.CoreV1().Secrets(ref.Namespace).Get(t.Context(), ref.Name, metav1.GetOptions{})
		if err != nil {
			t.Errorf("volume %s can't be mounted: %v", pv.Name, err)
			continue
		}
		if user := string(secret.Data["username"]); !domainUser.MatchString(user) {
			t.Errorf("%s/%s has username %q", ref.Namespace, ref.Name, user)
		}
	}
}

// assignment is a line of a block that gives variables their values.
var assignment = regexp.MustCompile(`^(export )?(\w+=\S+ ?)+$`)

// expand puts the page's values into what a block prints.
func (c *cluster) expand(text string) string {
	return os.Expand(text, func(name string) string {
		m := regexp.MustCompile(`\b` + name + `=(\S+)`).FindStringSubmatch(c.values)
		if m == nil {
			return "$" + name
		}
		return m[1]
	})
}

// runs runs one block. One that only gives variables their values counts for all
// that come after it, as in a reader's shell.
func (c *cluster) runs(t *testing.T, p part) string {
	t.Helper()
	if c == nil {
		t.Fatalf("%s: the page names no cluster before it", p.at)
	}
	if lines := strings.Split(strings.TrimSpace(p.text), "\n"); !slices.ContainsFunc(lines, func(l string) bool { return !assignment.MatchString(l) }) {
		c.values += p.text
	}
	c.settle(t)
	out, exit := c.sh(t, p.text)
	if exit != 0 {
		t.Errorf("%s: exit %d\n%s\n%s", p.at, exit, p.text, out)
	}
	return out
}

// compare looks for each line that a page shows; columns are of any width, and
// ... means anything.
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
