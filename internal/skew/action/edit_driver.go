package action

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// EditDriver changes a field of a DaemonSet that no other command sets.
type EditDriver struct {
	defaults
	Object inventory.Object
	Text   string
	// Patch is a merge patch that does it, "" where Flags are what changes.
	Patch string
	Flags *Flags
	// Strategy is the DaemonSet's.
	Strategy string
	// Becomes is the driver then; nil where that isn't known.
	Becomes *inventory.Driver
}

func (a EditDriver) apply(inv *inventory.Inventory) {
	become(inv, a.Becomes)
	if d := driver(inv, a.Object); d != nil && a.Flags != nil {
		d.Call, _ = a.Flags.change()
	}
}

// Flags changes how a container is called: Drop are names of flags, Give is one
// with its value, "" for none.
type Flags struct {
	Container string
	Call      inventory.Call
	Drop      []string
	Give      string
}

// Known tells whether what is to change was found: a shell's line that has none of
// the flags may end in another program than the driver.
func (f *Flags) Known() bool {
	if f.Call.At == "" {
		return false
	}
	words := slices.Concat(f.Call.Command, f.Call.Args)
	if slices.ContainsFunc(words, f.pattern().MatchString) {
		return true
	}
	line := slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, " \n\t") && !strings.HasPrefix(w, "-") })
	return f.Give != "" && !line
}

// pattern finds a flag as an argument, and in a line for a shell.
func (f *Flags) pattern() *regexp.Regexp {
	var names []string
	for _, name := range f.Drop {
		names = append(names, regexp.QuoteMeta(strings.TrimLeft(name, "-")))
	}
	return regexp.MustCompile(`(^|\s)--?(?:` + strings.Join(names, "|") + `)(?:=\S*)?(\s|$)`)
}

// change is the call then, and the JSON patch that makes it. The patch tests what
// it replaces: where that is no longer what was read, it fails.
func (f *Flags) change() (to inventory.Call, patch string) {
	give := f.Give
	edit := func(words []string) (out []string) {
		for _, w := range words {
			with := f.pattern().ReplaceAllStringFunc(w, func(found string) string {
				parts := f.pattern().FindStringSubmatch(found)
				with := parts[1] + give + parts[2]
				give = ""
				return with
			})
			if with != "" || w == "" {
				out = append(out, with)
			}
		}
		return out
	}
	to = inventory.Call{At: f.Call.At, Command: edit(f.Call.Command), Args: edit(f.Call.Args)}
	if give != "" {
		to.Args = append(to.Args, give)
	}
	ops := []operation{{"test", f.Call.At + "/name", f.Container}}
	for _, field := range []struct {
		name     string
		was, now []string
	}{{"/command", f.Call.Command, to.Command}, {"/args", f.Call.Args, to.Args}} {
		path := f.Call.At + field.name
		if slices.Equal(field.was, field.now) {
			continue
		}
		if len(field.was) > 0 {
			ops = append(ops, operation{"test", path, field.was})
		}
		if len(field.now) > 0 {
			ops = append(ops, operation{"add", path, field.now})
		} else {
			ops = append(ops, operation{Op: "remove", Path: path})
		}
	}
	return to, jsonOf(ops)
}

// operation is one of a JSON patch, RFC 6902.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// jsonPath prints command and arguments of the container as [Flags.change] has them.
func (f *Flags) jsonPath() string {
	list := "containers"
	if strings.Contains(f.Call.At, "/initContainers/") {
		list = "initContainers"
	}
	c := `.spec.template.spec.` + list + `[?(@.name=="` + f.Container + `")]`
	return "jsonpath={" + c + ".command}{" + c + ".args}"
}

// jsonOf is a value as kubectl prints it; "" for an empty list.
func jsonOf[T any](list []T) string {
	if len(list) == 0 {
		return ""
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // of strings
	}
	return string(text)
}

func (EditDriver) rank() int { return rankDrivers }

func (a EditDriver) changes() []inventory.Object { return []inventory.Object{a.Object} }

func (a EditDriver) sets() []setting { return []setting{{"pod of " + a.Object.String(), ""}} }

func (a EditDriver) outcome() *inventory.Driver { return a.Becomes }

func (a EditDriver) registers() registration {
	if a.Becomes == nil {
		return registration{}
	}
	return registration{a.Object, a.Becomes.Provisioner}
}
