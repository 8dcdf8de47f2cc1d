package catalog

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/printable"
	"github.com/winbake/winbake/internal/version"
)

type checker struct {
	*merger
	drivers  map[string]bool
	releases map[string]bool
	proxies  map[string]bool
	found    []placed
}

type placed struct {
	doc, line int
	fault     *fault.Error
}

// check judges the merged catalog and returns its first mistake in the order
// of reading, nil if there is none.
func (m *merger) check() error {
	k := &checker{merger: m, drivers: map[string]bool{}, releases: map[string]bool{}, proxies: map[string]bool{}}
	for _, d := range m.into.Drivers {
		k.drivers[d.Name] = true
	}
	for _, r := range m.into.Releases {
		k.releases[r.OpenShift] = true
	}
	for _, r := range m.into.CSIProxy {
		k.proxies[r.Version] = true
	}
	for _, key := range m.doubles {
		k.row(key.section, key.key).bad("this row is there twice", "remove one of them")
	}
	k.checkDrivers()
	k.checkReleases()
	k.checkCSIProxy()
	k.checkWMCO()
	k.checkOperators()
	k.checkPayload()
	k.checkPairs()
	k.checkMigration()
	k.checkIdentities()
	k.checkBuilds()
	return k.first()
}

func (k *checker) first() error {
	if len(k.found) == 0 {
		return nil
	}
	slices.SortStableFunc(k.found, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.doc, b.doc), cmp.Compare(a.line, b.line))
	})
	first := k.found[0].fault
	switch more := len(k.found) - 1; more {
	case 0:
	case 1:
		first.What += " (there is one more mistake)"
	default:
		first.What += fmt.Sprintf(" (there are %d more mistakes)", more)
	}
	return first
}

type rowCheck struct {
	k   *checker
	key rowKey
}

func (k *checker) row(s section, key string) rowCheck { return rowCheck{k, rowKey{s, key}} }

func (r rowCheck) bad(what, fix string) { r.badAt(nil, what, fix) }

func (r rowCheck) badAt(path []any, what, fix string) {
	at, ok := r.source(path)
	if !ok {
		r.k.found = append(r.k.found, placed{fault: &fault.Error{Where: string(r.key.section) + " " + r.key.key, What: what, Fix: fix}})
		return
	}
	n, _ := at.place(path)
	// The last document on top is the one that somebody has just written.
	order := -slices.Index(r.k.docs, at.doc)
	r.k.found = append(r.k.found, placed{order, n.Line, at.doc.at(n, what, fix)})
}

// source is the document that a part of the row comes from: the last one that
// has the part, where a release is merged of several, else the last one.
func (r rowCheck) source(path []any) (rowAt, bool) {
	from := r.k.from[r.key]
	if len(from) == 0 {
		return rowAt{}, false
	}
	part := path[:min(len(path), 1)]
	if len(path) > 1 && path[0] == "drivers" {
		part = path[:2]
	}
	for i := len(from) - 1; r.key.section == sectionReleases && i >= 0; i-- {
		if _, whole := from[i].place(part); whole {
			return from[i], true
		}
	}
	return from[len(from)-1], true
}

// evidence demands a source; path leads to the thing that has it.
func (r rowCheck) evidence(list []Evidence, path ...any) {
	if len(list) == 0 {
		r.badAt(path, "this has no evidence", "say where it is known from: evidence: [{source: https://...}]")
	}
	for i, e := range list {
		if e.Source == "" {
			r.badAt(slices.Concat(path, []any{"evidence", i}), "this evidence has no source", "name a URL, or repository@ref:path")
		}
	}
}

func (r rowCheck) wanted(value string, path ...any) {
	if value == "" {
		r.badAt(path, fmt.Sprintf("%v is missing", path[len(path)-1]), "write it")
	}
}

// matches demands text of a form; what says in words what it isn't.
func (r rowCheck) matches(form *regexp.Regexp, value, what, fix string, path ...any) {
	if !form.MatchString(value) {
		r.badAt(path, printable.Quote(value)+" is no "+what, fix)
	}
}

func oneOf[T ~string](r rowCheck, value T, values []T, path ...any) {
	if value == "" {
		r.wanted("", path...)
	} else if !slices.Contains(values, value) {
		r.badAt(path, fmt.Sprintf("%v can't be %s", path[len(path)-1], printable.Quote(string(value))), fmt.Sprintf("write one of %q", values))
	}
}

func (r rowCheck) driver(name string, path ...any) {
	if !r.k.drivers[name] {
		r.badAt(path, fmt.Sprintf("there is no driver %s", printable.Quote(name)), "write a name of the section drivers, such as azure-disk")
	}
}

func (r rowCheck) release(minor string, path ...any) {
	if !r.k.releases[minor] {
		r.badAt(path, fmt.Sprintf("there is no release %s", printable.Quote(minor)), `write a minor of the section releases, such as "4.20"`)
	}
}

func (r rowCheck) version(s string, path ...any) version.Driver {
	v, err := version.ParseDriver(s)
	switch {
	case s == "":
		r.wanted(s, path...)
	case err != nil:
		r.badAt(path, err.Error(), "write it as 1.33.1")
	}
	return v
}

var (
	group      = regexp.MustCompile(`^(disk|filesystem|smb|volume|system|iscsi)$`)
	apiVer     = regexp.MustCompile(`^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$`)
	commitHex  = regexp.MustCompile(`^[0-9a-f]{12,40}$`)
	digestHex  = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	ackKey     = regexp.MustCompile(`^ack-[0-9]+\.[0-9]+-[^-]`)
	severities = []string{"BLOCK", "WARN"}
	moments    = []string{"before", "during", "after"}
)
