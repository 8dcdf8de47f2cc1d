package winsvc

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/printable"
)

// variableForm keeps a name from turning up in a path by chance: WMCO
// replaces it wherever it stands.
var variableForm = regexp.MustCompile(`^[A-Z][A-Z0-9_]{2,}$`)

func (p *problems) recovery(s Service) {
	r := s.Recovery
	if len(r.Actions) == 0 && !r.IsZero() {
		p.add("recovery", "add actions: [restart/10s]", "recovery has no actions")
	}
	if r.Reset < 0 || r.Reset > maxDelay || r.Reset%time.Second != 0 {
		p.add("recovery", "write reset: 24h", "recovery can't be reset after %s", r.Reset)
	}
	runs := false
	for _, a := range r.Actions {
		runs = runs || a.Kind == ActionRun
		if _, err := ParseAction(a.String()); err != nil {
			p.add("recovery", "write actions: [restart/10s]", "%s", err)
		}
	}
	switch {
	case !isPrintable(r.Command):
		p.add("recovery", "write it in one line", "command can't be %s", printable.Quote(r.Command))
	case runs && r.Command == "":
		p.add("recovery", "add command:", "an action runs a command, and there is none")
	case !runs && r.Command != "":
		p.add("recovery", "add an action run/10s, or remove command:", "no action runs the command")
	}
}

// variables checks the names that WMCO's daemon replaces in a command.
func (p *problems) variables(s Service) {
	var names []string
	check := func(field, name, command string) {
		switch {
		case !variableForm.MatchString(name):
			p.add(field, "write upper case letters, digits and underscores, three at least", "variable can't be called %s", printable.Quote(name))
		case !strings.Contains(command, name):
			p.add(field, "use it or leave it out", "variable %s isn't in the command", name)
		}
		for _, other := range names {
			if strings.Contains(other, name) || strings.Contains(name, other) {
				p.add(field, "rename one of them", "variables %s and %s hold one another, and WMCO replaces them in any order", other, name)
			}
		}
		names = append(names, name)
	}
	command := s.Command()
	for _, a := range s.NodeArgs {
		check("nodeArgs", a.Name, command)
		p.nodePath("nodeArgs", a)
	}
	for _, script := range s.PreScripts {
		if strings.TrimSpace(script.Command) == "" || !isPrintable(script.Command) {
			p.add("preScripts", "write one line of PowerShell", "a script's command can't be %s", printable.Quote(script.Command))
		}
		if script.Variable != "" {
			check("preScripts", script.Variable, command)
		}
	}
	for _, script := range s.PreScripts { // each script has names of its own
		names = nil
		for _, a := range script.NodeArgs {
			check("preScripts", a.Name, script.Command)
			p.nodePath("preScripts", a)
		}
		if s.Bootstrap && len(script.NodeArgs) > 0 {
			p.add("preScripts", "leave out its nodeArgs, or bootstrap: true", "service %s is set up before there is a Node object to read", s.Name)
		}
	}
	if s.Bootstrap && len(s.NodeArgs) > 0 {
		p.add("nodeArgs", "remove nodeArgs, or bootstrap: true", "service %s is set up before there is a Node object to read", s.Name)
	}
}

// nodePath takes a JSON path, or plain text, which means itself (WMCO
// uses both).
func (p *problems) nodePath(field string, a NodeArg) {
	if a.Path == "" || !isPrintable(a.Path) || strings.Count(a.Path, "{") != strings.Count(a.Path, "}") {
		p.add(field, "write a JSON path such as {.metadata.name}", "variable %s can't be read from %s", a.Name, printable.Quote(a.Path))
	}
}

// dependencies checks that each is there, and that none leads back.
func (p *problems) dependencies(services []Service) {
	byName := map[string]Service{}
	for _, s := range services {
		byName[strings.ToLower(s.Name)] = s
	}
	needs := func(name string) []string { return byName[strings.ToLower(name)].Dependencies }
	reported := map[string]bool{} // each cycle once, at its first service
	for i, s := range services {
		p.service = i
		seen := map[string]bool{}
		for k, name := range s.Dependencies {
			d, here := byName[strings.ToLower(name)]
			switch {
			case seen[strings.ToLower(name)]:
				p.item("dependencies", k, "remove one of them", "dependency %s stands here twice", name)
			case !here && !KnownWindowsService(name):
				p.item("dependencies", k, "declare it, or name a service of Windows such as RpcSs", "service %s depends on %s, which isn't here nor known as a service of Windows", s.Name, printable.Clip(name))
			case here:
				p.dependency(k, s, d)
			}
			seen[strings.ToLower(name)] = true
		}
		if path := Cycle(s.Name, needs); path != nil && !reported[strings.ToLower(s.Name)] {
			for _, name := range path {
				reported[strings.ToLower(name)] = true
			}
			p.add("dependencies", "take one of them out", "dependencies lead back: %s", strings.Join(path, " -> "))
		}
	}
}

func (p *problems) dependency(k int, s, d Service) {
	switch {
	case s.Bootstrap && !d.Bootstrap:
		p.item("dependencies", k, "add bootstrap: true to "+d.Name, "bootstrap service %s can't depend on %s, which isn't one", s.Name, d.Name)
	case d.Priority > s.Priority:
		p.item("dependencies", k, "give "+d.Name+" a priority of that number or less", "service %s has priority %d and depends on %s, whose %d comes later", s.Name, s.Priority, d.Name, d.Priority)
	case d.Start == StartDisabled && s.Start != StartDisabled:
		p.item("dependencies", k, "change start: of one of them", "service %s depends on %s, which is disabled", s.Name, d.Name)
	}
}

// Cycle returns the way from a service back to itself, nil if there is none.
func Cycle(name string, dependencies func(name string) []string) []string {
	visited := map[string]bool{}
	var walk func(at string, path []string) []string
	walk = func(at string, path []string) []string {
		if visited[strings.ToLower(at)] {
			return nil
		}
		visited[strings.ToLower(at)] = true
		path = append(path, at)
		for _, d := range dependencies(at) {
			if strings.EqualFold(d, name) {
				return append(path, d)
			}
			if found := walk(d, path); found != nil {
				return found
			}
		}
		return nil
	}
	return walk(name, nil)
}

// priorities holds bootstrap services before all others, as WMCO does.
func (p *problems) priorities(services []Service) {
	for i, s := range services {
		if !s.Bootstrap {
			continue
		}
		for _, other := range services {
			if !other.Bootstrap && other.Priority <= s.Priority {
				p.service = i
				p.add("priority", "give bootstrap services lower numbers than all others", "bootstrap service %s has priority %d, and %s, which isn't one, has %d", s.Name, s.Priority, other.Name, other.Priority)
				break
			}
		}
	}
}

// Ordered returns services as they are set up: by priority, each after what
// it depends on, else as they stand. They must be valid.
func Ordered(services []Service) []Service {
	rest := slices.Clone(services)
	slices.SortStableFunc(rest, func(a, b Service) int { return int(a.Priority) - int(b.Priority) })
	var out []Service
	for len(rest) > 0 {
		next := slices.IndexFunc(rest, func(s Service) bool { return !dependsOnAny(s, rest) })
		if next < 0 {
			next = 0 // a cycle, which Validate refuses
		}
		out = append(out, rest[next])
		rest = slices.Delete(rest, next, next+1)
	}
	return out
}

func dependsOnAny(s Service, others []Service) bool {
	return slices.ContainsFunc(others, func(o Service) bool {
		return slices.ContainsFunc(s.Dependencies, func(d string) bool { return strings.EqualFold(d, o.Name) })
	})
}

// Problem is one rule that a service breaks. Anyone who read the service knows
// where it is in a file; this says which part of it.
type Problem struct {
	Service int    // index of the service in what was checked
	Field   string // key of versions.yaml: name, args, recovery
	Item    int    // index within a list, -1 for the whole field
	What    string // is wrong, one lower-case sentence
	Fix     string // the edit that fixes it
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
