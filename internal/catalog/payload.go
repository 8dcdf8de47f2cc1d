package catalog

import (
	"slices"
	"strings"
)

// When is the time at which an operator first demands a file of its payload.
type When string

// The values of When.
const (
	// Start: the operator stats the file before it does anything else. Without it
	// the operator exits with code 1.
	Start When = "start"
	// Configure: the operator reads the file when it connects to a node. Without
	// it no node is configured or updated.
	Configure When = "configure"
)

// Operator is where the operator of one minor says what it demands below
// /payload. Both are sources as Evidence has them.
type Operator struct {
	OpenShift string `json:"openshift" check:"release"`
	Start     string `json:"start" check:"lines"`
	Configure string `json:"configure" check:"lines"`
}

// PayloadFile is a file that operators demand below /payload. The parts of the
// format, sha256sum and generated/, aren't such files.
type PayloadFile struct {
	// Path is relative to /payload, with slashes and without .tar.gz.
	Path string `json:"path" check:"payload file"`
	When When   `json:"when" oneOf:"start configure"`
	// From is the first minor that demands it, Until the first that doesn't; ""
	// open.
	From  string `json:"from" check:"release"`
	Until string `json:"until,omitempty" check:"release"`
	// Platforms are those of Infrastructure on which it is demanded, "AWS"; empty:
	// all.
	Platforms []string `json:"platforms,omitempty" check:"platform"`
	// Nodes are the platforms whose nodes get a copy; empty: all.
	Nodes    []string   `json:"nodes,omitempty" check:"platform"`
	Evidence []Evidence `json:"evidence"`

	// Source is the list that names the file, and Effect what the operator does
	// when the file isn't there. PayloadFiles sets both.
	Source string `json:"-"`
	Effect string `json:"-"`
}

// PayloadFiles are the files that the operator of a minor demands, each once,
// in the order of their paths. A patch may follow the minor and doesn't count.
// nil: it isn't known what that operator demands.
func (c *Catalog) PayloadFiles(release string) []PayloadFile {
	r := c.Release(release)
	if r == nil {
		return nil
	}
	i := slices.IndexFunc(c.Operators, func(o Operator) bool { return o.OpenShift == r.OpenShift })
	if i < 0 {
		return nil
	}
	files := []PayloadFile{}
	for _, f := range c.Payload {
		if compareMinor(f.From, r.OpenShift) > 0 || f.Until != "" && compareMinor(f.Until, r.OpenShift) <= 0 {
			continue
		}
		f.Source, f.Effect = c.Operators[i].Start, "the operator exits with code 1 when it starts"
		if f.When == Configure {
			f.Source, f.Effect = c.Operators[i].Configure, "the operator configures no Windows node"
		}
		if len(f.Platforms) > 0 {
			f.Effect += " on " + strings.Join(f.Platforms, ", ")
		}
		files = append(files, f)
	}
	return files
}

// OperatorReleases are the minors that PayloadFiles knows, oldest first.
func (c *Catalog) OperatorReleases() []string {
	var minors []string
	for _, o := range c.Operators {
		minors = append(minors, o.OpenShift)
	}
	return minors
}
