package node

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winbake/winbake/internal/finding"
)

// Compare judges what a node says of itself. Every check gives a finding for
// every object, PASS where all is well; what the node didn't tell is UNKNOWN
// with the reason.
func Compare(e *Expectation, f *Facts) []finding.Finding {
	c := &comparison{facts: f}
	c.interrupted()
	for _, s := range e.Services {
		c.service(s)
	}
	for _, file := range e.Files {
		c.file(file)
	}
	finding.Sort(c.found)
	return c.found
}

// Reached is the finding of whether a node of several could be asked; reason
// says why not, "" means it could.
func Reached(reason string) finding.Finding {
	c, s := new(comparison), says{severity: finding.Pass, observed: "it answered"}
	if reason != "" {
		s = says{severity: finding.Unknown, observed: reason}
	}
	c.add(NodeNotReached, "", s)
	return c.found[0]
}

type comparison struct {
	facts *Facts
	found []finding.Finding
}

// says is the severity of a difference and what is seen instead.
type says struct {
	severity           finding.Severity
	observed, expected string
	why, remedy        string // instead of the rule's
}

func (c *comparison) add(id, object string, s says) {
	r := rule(id)
	f := finding.Finding{ID: id, Severity: s.severity, Object: object, Observed: s.observed, Expected: s.expected}
	if s.severity > finding.Pass {
		f.Why = cmp.Or(s.why, r.Why)
	}
	if s.severity > finding.Info {
		f.Remedy = cmp.Or(s.remedy, r.Remedy)
	}
	c.found = append(c.found, f)
}

// unknown says that the node didn't tell.
func (c *comparison) unknown(id, object, reason, expected string) {
	c.add(id, object, says{severity: finding.Unknown, observed: "the node doesn't tell: " + reason, expected: expected, why: rule(id).Title + ": that couldn't be told"})
}

// judge compares a value that was told, or says that it wasn't. bad returns
// nothing for a good value.
func judge[T any](c *comparison, id, object string, t Told[T], expected string, bad func(T) *says) {
	v, ok := t.Get()
	if !ok {
		c.unknown(id, object, t.Reason(), expected)
		return
	}
	if s := bad(v); s != nil {
		s.expected = cmp.Or(s.expected, expected)
		c.add(id, object, *s)
		return
	}
	c.add(id, object, says{severity: finding.Pass, observed: expected})
}

func block(observed string) *says { return &says{severity: finding.Block, observed: observed} }

func (c *comparison) interrupted() {
	s := says{severity: finding.Pass, observed: "none"}
	if c.facts.Interrupted != "" {
		s = says{severity: finding.Block, observed: c.facts.Interrupted, expected: "no change under way"}
	}
	c.add(NodeInterrupted, "node", s)
}

func (c *comparison) file(want File) {
	object := want.Path
	i := slices.IndexFunc(c.facts.Files, func(f FileFacts) bool { return SamePath(f.Path, want.Path) })
	if i < 0 {
		c.unknown(FileDiffers, object, "nobody asked the node for it", want.SHA256)
		return
	}
	got := c.facts.Files[i]
	if exists, ok := got.Exists.Get(); ok && !exists {
		c.add(FileMissing, object, says{severity: finding.Block, observed: "no such file", expected: "sha256 " + want.SHA256})
		return
	}
	judge(c, FileDiffers, object, got.SHA256, "sha256 "+want.SHA256, func(sum string) *says {
		if sum == want.SHA256 {
			return nil
		}
		return block(fmt.Sprintf("sha256 %s, %d bytes", sum, got.Size))
	})
}
