package winsvc

import "fmt"

// Problem is one rule that a service breaks. Whoever read the service knows
// where it stands in a file; this says which part of it.
type Problem struct {
	Service int    // index of the service in what was checked
	Field   string // key of versions.yaml: name, args, recovery
	Item    int    // index within a list, -1 for the whole field
	What    string // is wrong, one lower-case sentence
	Fix     string // the edit that mends it
}

// problems collects them for one service at a time.
type problems struct {
	found   []Problem
	service int
}

func (p *problems) add(field, fix, what string, args ...any) {
	p.item(field, -1, fix, what, args...)
}

func (p *problems) item(field string, item int, fix, what string, args ...any) {
	p.found = append(p.found, Problem{Service: p.service, Field: field, Item: item, What: fmt.Sprintf(what, args...), Fix: fix})
}
