package imagecheck

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// asked is the Windows that a row asks. It keeps why a question had no answer: then
// what the row says doesn't count.
type asked struct {
	Windows
	err error
}

// answered keeps err, and tells whether there was none.
func (w *asked) answered(err error) bool {
	w.err = cmp.Or(w.err, err)
	return err == nil
}

// there is answered for a thing that needn't be there.
func (w *asked) there(err error) bool {
	return !errors.Is(err, fs.ErrNotExist) && w.answered(err)
}

func (w *asked) service(name string) (Service, bool) {
	s, err := w.Service(name)
	return s, w.there(err)
}

func (w *asked) read(path string) ([]byte, bool) {
	data, err := w.Read(path)
	return data, w.there(err)
}

// value is a value of the registry, "" for one that isn't there.
func (w *asked) value(key, name string) string {
	v, err := w.Value(key, name)
	w.there(err)
	return v
}

// must is a value of the registry that each Windows has.
func (w *asked) must(key, name string) string {
	v, err := w.Value(key, name)
	w.answered(err)
	return v
}

// powershell runs one line. Each of ours writes something in any case: no output is
// no answer.
func (w *asked) powershell(line string) string {
	out, err := w.Run("powershell.exe", "-NoProfile", "-NonInteractive", "-Command", line)
	out = strings.TrimSpace(out)
	if err == nil && out == "" {
		err = errors.New("PowerShell wrote nothing")
	}
	w.answered(err)
	return out
}

// The questions that several rows ask.

type question = func(*asked) Answer

// starts wants a service that starts with Windows, and runs now.
func starts(name string) question {
	return func(w *asked) Answer {
		s, there := w.service(name)
		if !there {
			return wrong("there is no service %s", name)
		}
		good := (s.Start == "automatic" || s.Start == "delayed") && s.State == "running"
		return Answer{Observed: s.Start + ", " + s.State, Wrong: !good}
	}
}

// enabled wants a service that may be started.
func enabled(name string) question {
	return func(w *asked) Answer {
		s, there := w.service(name)
		if !there {
			return wrong("there is no service %s", name)
		}
		return Answer{Observed: s.Start, Wrong: s.Start == "disabled"}
	}
}

// noService wants none of these services.
func noService(names ...string) question {
	return func(w *asked) Answer {
		return none(slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			_, there := w.service(name)
			return !there
		}))
	}
}

// none wants an empty list.
func none(there []string) Answer {
	if len(there) > 0 {
		return wrong("%s", strings.Join(there, ", "))
	}
	return right("none")
}

// place is a value in the registry.
type place struct{ key, name string }

// empty wants values that aren't there, are empty, or are 0.
func empty(places ...place) question {
	return func(w *asked) Answer {
		var there []string
		for _, p := range places {
			if v := w.value(p.key, p.name); v != "" && v != "0" {
				there = append(there, p.name+"="+v)
			}
		}
		return none(there)
	}
}

// oneOf wants a value of the registry that is one of those.
func oneOf(key, name string, allowed ...string) question {
	return func(w *asked) Answer {
		v := w.must(key, name)
		return Answer{Observed: v, Wrong: !slices.Contains(allowed, v)}
	}
}
