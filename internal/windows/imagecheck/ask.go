package imagecheck

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// The questions that several rows ask.

type question = func(Windows) (Answer, error)

func absent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// starts wants a service that starts with Windows, and runs now.
func starts(name string) question {
	return func(w Windows) (Answer, error) {
		s, err := w.Service(name)
		switch {
		case absent(err):
			return wrong("there is no service %s", name)
		case err != nil:
			return Answer{}, err
		case (s.Start == "automatic" || s.Start == "delayed") && s.State == "running":
			return right("%s, %s", s.Start, s.State)
		}
		return wrong("%s, %s", s.Start, s.State)
	}
}

// enabled wants a service that may be started.
func enabled(name string) question {
	return func(w Windows) (Answer, error) {
		s, err := w.Service(name)
		switch {
		case absent(err):
			return wrong("there is no service %s", name)
		case err != nil:
			return Answer{}, err
		case s.Start == "disabled":
			return wrong("disabled")
		}
		return right("%s", s.Start)
	}
}

// noService wants none of these services.
func noService(names ...string) question {
	return func(w Windows) (Answer, error) {
		var there []string
		for _, name := range names {
			_, err := w.Service(name)
			if err == nil {
				there = append(there, name)
			} else if !absent(err) {
				return Answer{}, err
			}
		}
		return none(there)
	}
}

// none wants an empty list.
func none(there []string) (Answer, error) {
	if len(there) > 0 {
		return wrong("%s", strings.Join(there, ", "))
	}
	return right("none")
}

// value is a value of the registry, "" for one that isn't there.
func value(w Windows, key, name string) (string, error) {
	v, err := w.Value(key, name)
	if absent(err) {
		return "", nil
	}
	return v, err
}

// place is a value in the registry.
type place struct{ key, name string }

// empty wants values that aren't there, are empty, or are 0.
func empty(places ...place) question {
	return func(w Windows) (Answer, error) {
		var there []string
		for _, p := range places {
			v, err := value(w, p.key, p.name)
			if err != nil {
				return Answer{}, err
			}
			if v != "" && v != "0" {
				there = append(there, p.name+"="+v)
			}
		}
		return none(there)
	}
}

// oneOf wants a value of the registry that is one of those.
func oneOf(key, name string, allowed ...string) question {
	return func(w Windows) (Answer, error) {
		v, err := w.Value(key, name)
		if err != nil {
			return Answer{}, err
		}
		if !slices.Contains(allowed, v) {
			return wrong("%s", v)
		}
		return right("%s", v)
	}
}

// powershell runs one line. Each of ours writes something in any case: no output is
// no answer.
func powershell(w Windows, line string) (string, error) {
	out, err := w.Run("powershell.exe", "-NoProfile", "-NonInteractive", "-Command", line)
	if err != nil {
		return "", err
	}
	if out = strings.TrimSpace(out); out == "" {
		return "", errors.New("PowerShell wrote nothing")
	}
	return out, nil
}
