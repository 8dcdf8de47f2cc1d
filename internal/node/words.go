package node

import (
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/winsvc"
)

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
	if len(names) == 0 {
		return "none"
	}
	return strings.ToLower(strings.Join(slices.Sorted(slices.Values(names)), ", "))
}

// variables is a list of variables' names as one text.
func variables(names []string) string {
	if len(names) == 0 {
		return "no variables"
	}
	return strings.Join(names, ", ")
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
