package node

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/winsvc"
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

// must is judge for a value that is good or BLOCK.
func must[T any](c *comparison, id, object string, t Told[T], expected string, good func(T) bool, observed func(T) string) {
	judge(c, id, object, t, expected, func(v T) *says {
		if good(v) {
			return nil
		}
		return block(observed(v))
	})
}

// mustBeThere is must for what exists, or is a fault.
func mustBeThere(c *comparison, id, object string, t Told[bool], expected, missing string) {
	must(c, id, object, t, expected, func(there bool) bool { return there }, func(bool) string { return missing })
}

func itself(s string) string { return s }

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
	must(c, FileDiffers, object, got.SHA256, "sha256 "+want.SHA256, func(sum string) bool { return sum == want.SHA256 },
		func(sum string) string { return fmt.Sprintf("sha256 %s, %d bytes", sum, got.Size) })
}

// Rule is one check of a node: its finding's ID, what it asks, why that
// matters, and what fixes it.
type Rule struct {
	ID, Title, Why, Remedy string
}

// install brings a node to what it should be.
const install = "verify node install PAYLOAD"

// Rules are all checks, in the order of their IDs. IDs are frozen once
// released: --accept and dashboards hold them.
var Rules = []Rule{
	{ServiceAbsent, "the service is registered", "nothing serves its pipes, and pods that need them can't mount volumes", install},
	{ServiceCommand, "the service has the right command line",
		"another program runs, or this one with other flags: one that it doesn't know ends it at once", install},
	{ServiceStart, "the service starts when it should", "after a restart of the node it is down until somebody starts it", install},
	{ServiceRecovery, "the service is started again when it dies", "a crash leaves the node without it until somebody starts it", install},
	{ServiceRunning, "the service runs, and its process lives", "nothing serves its pipes, and pods that need them can't mount volumes", install},
	{SecondOwner, "no other service serves the same pipes",
		"whichever of the two starts later ends at once, since the first instance of a pipe is exclusive", "stop and disable the other service"},
	{FileDiffers, "the file has the payload's bytes", "the node runs something else than what was baked and checked", install},
	{FileMissing, "the file is there", "what starts it fails", install},
	{LogDirectory, "the log directory is there", "the program doesn't make it and ends when it can't open its log", install},
	{PipeMissing, "the pipe is there", "drivers that dial it fail", install},
	{PipeOwner, "the pipe is served by the service's process", "another program answers the drivers, with whatever rights and version it has", install},
	{PipeAnswer, "the pipe answers", "drivers that call it fail or hang", install},
	{LogVersion, "the running program is the pinned version", "the node runs another version than the one that was baked and checked", install},
	{ServiceAccount, "the service runs under the right account", "with fewer rights its calls fail, with more a pod that reaches it has them", install},
	{ServiceDependencies, "the service depends on the right services", "it may start before what it needs", install},
	{NodeInterrupted, "no change of the node was cut short", "files and services may be half of one payload and half of another",
		"run the same command again: it ends what was begun"},
	{ServiceEnvironment, "the service's process gets the right variables",
		"the program runs with other settings than those that were baked and checked", install},
}

// The IDs of Rules.
const (
	ServiceAbsent       = "WIN001"
	ServiceCommand      = "WIN002"
	ServiceStart        = "WIN003"
	ServiceRecovery     = "WIN004"
	ServiceRunning      = "WIN005"
	SecondOwner         = "WIN006"
	FileDiffers         = "WIN007"
	FileMissing         = "WIN008"
	LogDirectory        = "WIN009"
	PipeMissing         = "WIN010"
	PipeOwner           = "WIN011"
	PipeAnswer          = "WIN012"
	LogVersion          = "WIN013"
	ServiceAccount      = "WIN014"
	ServiceDependencies = "WIN015"
	NodeInterrupted     = "WIN016"
	ServiceEnvironment  = "WIN017"
)

func rule(id string) Rule {
	for _, r := range Rules {
		if r.ID == id {
			return r
		}
	}
	panic("no rule " + id)
}

// account spells the local system's account in one way.
func account(a string) string {
	switch strings.ToLower(a) {
	case "", "localsystem", `.\localsystem`, `nt authority\system`:
		return "LocalSystem"
	}
	return a
}

// listed is a list of services as one text, whatever their order.
func listed(names []string) string {
	return cmp.Or(strings.ToLower(strings.Join(slices.Sorted(slices.Values(names)), ", ")), "none")
}

// environmentDiffers names the variables that aren't as wanted, "" for none.
// It doesn't show what they hold: a proxy's address may have a password in it.
func environmentDiffers(got []string, want map[string]string) string {
	left := map[string]string{} // by name, in upper case: Windows doesn't tell them apart
	for name, value := range want {
		left[strings.ToUpper(name)] = value
	}
	var wrong []string
	for _, variable := range slices.Sorted(slices.Values(got)) {
		name, value, _ := strings.Cut(variable, "=")
		wanted, ok := left[strings.ToUpper(name)]
		delete(left, strings.ToUpper(name))
		switch {
		case !ok:
			wrong = append(wrong, name+" is set")
		case value != wanted:
			wrong = append(wrong, name+" has another value")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		wrong = append(wrong, name+" isn't set")
	}
	return strings.Join(wrong, ", ")
}

// recoveryText says what happens after each failure.
func recoveryText(r winsvc.Recovery) string {
	if len(r.Actions) == 0 {
		return "no recovery actions"
	}
	var parts []string
	for _, a := range r.Actions {
		parts = append(parts, a.String())
	}
	s := strings.Join(parts, " ") + ", count reset after " + r.Reset.String()
	if r.OnNonCrash {
		s += ", on errors too"
	}
	return s
}

// SameCommand tells whether two command lines start the same program with the
// same arguments: quoting and the case of the program's path don't count.
func SameCommand(a, b string) bool {
	x, errX := winsvc.ParseCommand(a)
	y, errY := winsvc.ParseCommand(b)
	if errX != nil || errY != nil {
		return a == b
	}
	return SamePath(x[0], y[0]) && slices.Equal(x[1:], y[1:])
}
