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
	check(c, NodeInterrupted, "node", Say(f.Interrupted), "no change under way", blockUnless(f.Interrupted == ""))
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

// add adds a finding with its rule's texts, and returns it.
func (c *comparison) add(id, object string, severity finding.Severity, observed, expected string) *finding.Finding {
	r := rule(id)
	f := finding.Finding{ID: id, Severity: severity, Object: object, Observed: observed, Expected: expected}
	switch severity {
	case finding.Pass:
		f.Observed, f.Expected = expected, ""
	case finding.Unknown:
		f.Observed, f.Why, f.Remedy = "the node doesn't tell: "+observed, r.Title+": that couldn't be told", r.Remedy
	default:
		f.Why, f.Remedy = r.Why, r.Remedy
	}
	c.found = append(c.found, f)
	return &c.found[len(c.found)-1]
}

// check adds what judge says of a value that was told, or that it wasn't. judge
// returns PASS for a good value, and what is seen of any other.
func check[T any](c *comparison, id, object string, t Told[T], expected string, judge func(T) (finding.Severity, string)) *finding.Finding {
	v, ok := t.Get()
	if !ok {
		return c.add(id, object, finding.Unknown, t.Reason(), expected)
	}
	severity, observed := judge(v)
	return c.add(id, object, severity, observed, expected)
}

// blockUnless judges a text, or one that a value is written as.
func blockUnless(good bool) func(string) (finding.Severity, string) {
	return unless(finding.Block, good)
}

func unless(severity finding.Severity, good bool) func(string) (finding.Severity, string) {
	return func(text string) (finding.Severity, string) {
		if good {
			severity = finding.Pass
		}
		return severity, text
	}
}

// there judges whether something exists.
func there(missing string) func(bool) (finding.Severity, string) {
	return func(exists bool) (finding.Severity, string) { return blockUnless(exists)(missing) }
}

// first is the first of all that is the same. Of none nothing was told.
func first[T any](all []T, same func(T) bool) (v T) {
	if i := slices.IndexFunc(all, same); i >= 0 {
		v = all[i]
	}
	return v
}

func (c *comparison) file(want File) {
	got := first(c.facts.Files, func(f FileFacts) bool { return SamePath(f.Path, want.Path) })
	if exists, ok := got.Exists.Get(); ok && !exists {
		c.add(FileMissing, want.Path, finding.Block, "no such file", "sha256 "+want.SHA256)
		return
	}
	check(c, FileDiffers, want.Path, got.SHA256, "sha256 "+want.SHA256, func(sum string) (finding.Severity, string) {
		return blockUnless(sum == want.SHA256)(fmt.Sprintf("sha256 %s, %d bytes", sum, got.Size))
	})
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
