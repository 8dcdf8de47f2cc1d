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

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/infile"
	"github.com/winbake/winbake/internal/base/strictyaml"
)

// File is the name of the file in the current folder.
const File = ".winbake-accept.yaml"

// ExpiredID is the finding about an entry whose day is over.
const ExpiredID = "accept.expired"

// Entry accepts a rule's findings, or the one about Object, up to the end of a day.
type Entry struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Reason string `json:"reason"`
	Until  string `json:"until"` // 2026-12-31, UTC
	Where  string `json:"-"`     // file:line:column
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

const example = "write entries like: accept: [{id: HP005, reason: why, until: \"2026-12-31\"}]"

func parse(name string, data []byte) ([]Entry, error) {
	d, err := strictyaml.Parse(name, data, strictyaml.Options{File: File, Help: example, Lists: map[string]string{"accept": "entries"}})
	if err != nil {
		return nil, err
	}
	var file struct {
		Accept []Entry `json:"accept"`
	}
	d.Decode(&file)
	for i := range file.Accept {
		e := &file.Accept[i]
		n, _ := d.Node("accept", i)
		e.Where = fmt.Sprintf("%s:%d:%d", name, n.Line, n.Column)
		object, named := d.Node("accept", i, "object")
		until, dated := d.Node("accept", i, "until")
		_, err := time.Parse(time.DateOnly, e.Until)
		switch {
		case named && e.Object == "":
			d.Report(object, "object is empty, which would be every object", "name it, or leave the key out")
		case dated && err != nil:
			d.Report(until, fmt.Sprintf("until %q is no day", e.Until), example)
		case e.ID == "" || e.Reason == "" || !dated:
			d.Report(n, "an entry needs id, reason and until", example)
		}
	}
	return file.Accept, errors.Join(d.Faults...)
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
