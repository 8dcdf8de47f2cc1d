package module

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source"
	"github.com/winbake/winbake/internal/build/source/gomod"
)

// commitOf is the commit that a module's version was made of. No sum covers
// what a proxy says of that, and some proxies say nothing. So the pin decides,
// then the lock: what is known of the same version and h1 stays.
func commitOf(env *source.Env, c *pins.Component, m *gomod.Module) (string, error) {
	told := m.Commit()
	before, intact := known(env.Lock, c.Name, m)
	switch {
	case !intact && c.Commit == "" && told == "":
		return "", &fault.Error{Where: c.Name, What: fmt.Sprintf("its lock was changed by something else than bake lock, and the proxy doesn't tell the commit of %s@%s", m.Path, m.Version),
			Fix: "take lock.yaml back from version control, or add commit: (the tag's full commit) to the component"}
	case !intact:
		before = ""
	case c.Commit != "" && told != "" && told != c.Commit && before != c.Commit:
		return "", &fault.Error{Where: c.Name, What: fmt.Sprintf("commit is %s, the proxy says that %s@%s was made of %s", c.Commit, m.Path, m.Version, told),
			Fix: "take commit: out of versions.yaml"}
	}
	commit := cmp.Or(c.Commit, before, told)
	if told != "" && told != commit && c.Commit == "" {
		env.Events.Emit(event.Event{Object: c.Name, Phase: event.Resolve, State: event.Warning,
			Message: fmt.Sprintf("the proxy says that %s@%s was made of commit %s; the lock keeps %s, until commit: in versions.yaml says otherwise", m.Path, m.Version, told, commit)})
	}
	return commit, nil
}

// known finds the commit that the lock has for m: in the component's own entry,
// else in another's of the same module. intact is false where there is none and
// its own entry was changed since it was written.
func known(lock *pins.Lock, name string, m *gomod.Module) (commit string, intact bool) {
	entries := lock.Components
	for _, n := range slices.Concat([]string{name}, slices.Sorted(maps.Keys(entries))) {
		l := entries[n]
		if l != nil && l.Module == m.Path && l.Version == m.Version && l.Sum == m.Sum && l.Commit != "" && l.Intact(n) {
			return l.Commit, true
		}
	}
	own := entries[name]
	return "", own == nil || own.Intact(name)
}
