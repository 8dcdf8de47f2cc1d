package node

import (
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
