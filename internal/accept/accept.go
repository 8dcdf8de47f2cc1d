// Package accept reads the file of findings that a team accepts, each with a
// reason and a day, and says which of them count today.
//
// It lowers no finding: package finding does.
package accept

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/finding"
	"github.com/winbake/winbake/internal/infile"
)

// File is the name of the file in the current folder.
const File = ".winbake-accept.yaml"

// ExpiredID is the finding about an entry whose day is over.
const ExpiredID = "accept.expired"

// Entry accepts a rule's findings, or the one about Object, up to the end of a day.
type Entry struct {
	ID, Object, Reason string
	Until              string // 2026-12-31, UTC
	Where              string // file:line:column
}

// Rule is the entry as --accept has it.
func (e *Entry) Rule() string {
	if e.Object == "" {
		return e.ID
	}
	return e.ID + "=" + e.Object
}

// Load reads the file at path; without one there, File's entries, if it is there.
// Errors are *fault.Error with file:line:column, all of them joined.
func Load(path string) ([]Entry, error) {
	name := cmp.Or(path, File)
	data, err := infile.Read(name, infile.Text)
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &fault.Error{Where: name, What: "the accepted findings can't be read: " + errors.Unwrap(err).Error(), Fix: "give --accept-file a file", Err: err}
	}
	return parse(name, data)
}

func parse(name string, data []byte) ([]Entry, error) {
	r := reader{name: name}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, &fault.Error{Where: name, What: "it isn't YAML: " + err.Error(), Fix: example, Err: err}
	}
	var entries []Entry
	for _, top := range doc.Content { // none in an empty file
		r.fields(top, map[string]func(*yaml.Node){"accept": func(list *yaml.Node) {
			if list.Kind != yaml.SequenceNode {
				r.refuse(list, "accept isn't a list")
			}
			for _, n := range list.Content {
				entries = append(entries, r.entry(n))
			}
		}})
	}
	return entries, errors.Join(r.errs...)
}

// Rules are the entries that count today, a day such as 2026-12-31, as --accept
// has them.
func Rules(entries []Entry, today string) (rules []string) {
	for _, e := range entries {
		if e.Until >= today {
			rules = append(rules, e.Rule())
		}
	}
	return rules
}

// Expired is a WARN for each entry that would accept one of fs, had its day not
// passed.
func Expired(entries []Entry, fs []finding.Finding, today string) (found []finding.Finding) {
	for _, e := range entries {
		for _, f := range fs {
			if e.Until >= today || f.Severity <= finding.Info || f.ID != e.ID || e.Object != "" && e.Object != f.Object {
				continue
			}
			found = append(found, finding.Finding{
				ID: ExpiredID, Severity: finding.Warn, Object: e.Rule(), Observed: "accepted until " + e.Until + ": " + e.Reason, Expected: "a day that isn't over",
				Why: "what was to be gone by then is still there", Remedy: "fix what " + e.ID + " reports, or give the entry a new day", Evidence: []string{e.Where},
			})
			break
		}
	}
	return found
}

type reader struct {
	name string
	errs []error
}

const example = "write entries like: accept: [{id: HP005, reason: why, until: \"2026-12-31\"}]"

func (r *reader) where(n *yaml.Node) string { return fmt.Sprintf("%s:%d:%d", r.name, n.Line, n.Column) }

func (r *reader) refuse(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, &fault.Error{Where: r.where(n), What: fmt.Sprintf(format, args...), Fix: example})
}

func (r *reader) entry(n *yaml.Node) Entry {
	e := Entry{Where: r.where(n)}
	text := func(to *string) func(*yaml.Node) {
		return func(n *yaml.Node) {
			if n.Kind != yaml.ScalarNode || n.Value == "" {
				r.refuse(n, "a text is wanted here")
			}
			*to = n.Value
		}
	}
	before := len(r.errs)
	r.fields(n, map[string]func(*yaml.Node){"id": text(&e.ID), "object": text(&e.Object), "reason": text(&e.Reason), "until": func(n *yaml.Node) {
		e.Until = n.Value
		if _, err := time.Parse(time.DateOnly, n.Value); err != nil {
			r.refuse(n, "until %q is no day", n.Value)
		}
	}})
	if len(r.errs) == before && (e.ID == "" || e.Reason == "" || e.Until == "") {
		r.refuse(n, "an entry needs id, reason and until")
	}
	return e
}

func (r *reader) fields(n *yaml.Node, known map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.refuse(n, "keys are wanted here")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch read := known[key.Value]; {
		case read == nil:
			r.refuse(key, "there is no key %q", key.Value)
		case seen[key.Value]:
			r.refuse(key, "the key %q is there twice", key.Value)
		default:
			read(n.Content[i+1])
		}
		seen[key.Value] = true
	}
}
