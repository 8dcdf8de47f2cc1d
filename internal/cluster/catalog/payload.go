package catalog

import (
	"slices"
	"strings"
)

// The values of When.
const (
	// Start: the operator stats the file before it does anything else. Without it
	// the operator exits with code 1.
	Start When = "start"
	// Configure: the operator reads the file when it connects to a node. Without
	// it no node is configured or updated.
	Configure When = "configure"
)

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
