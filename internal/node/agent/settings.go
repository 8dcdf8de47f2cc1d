package agent

import (
	"fmt"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
	"github.com/winbake/winbake/internal/winsvc"
)

// wanted are the settings that make a service what it should be.
func wanted(s node.Service) Settings {
	display, description := s.DisplayName(), s.Description
	deps, env := append([]string{}, s.Dependencies...), []string{}
	for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
		env = append(env, name+"="+s.Environment[name])
	}
	recovery := s.Recovery
	return Settings{
		Name: s.Name, Command: s.Command(), Display: &display, Description: &description, Start: &s.Start,
		Account: s.Account, Dependencies: &deps, Recovery: &recovery, Environment: &env,
	}
}

// found are the settings that put a service back to what it is now. What the
// manager doesn't tell can't be put back, so a change leaves it alone (see
// onlyKnown).
func found(s *Service) (Settings, error) {
	command, ok := s.Command.Get()
	if !ok {
		return Settings{}, &fault.Error{What: fmt.Sprintf("the service manager doesn't tell the command of service %s, so it couldn't be put back: %s", s.Name, s.Command.Reason()),
			Fix: "run as an administrator"}
	}
	account, _ := s.Account.Get()
	return Settings{
		Name: s.Name, Command: command, Account: account, Display: known(s.Display), Description: known(s.Description),
		Start: known(s.Start), Dependencies: knownList(s.Dependencies), Recovery: known(s.Recovery), Environment: knownList(s.Environment),
	}, nil
}

func known[T any](t node.Told[T]) *T {
	if v, ok := t.Get(); ok {
		return &v
	}
	return nil
}

// knownList keeps a list that is known to be empty apart from one that isn't
// known, in JSON too.
func knownList(t node.Told[[]string]) *[]string {
	p := known(t)
	if p != nil && *p == nil {
		*p = []string{}
	}
	return p
}

// onlyKnown leaves out of want what couldn't be put back to what it was.
func onlyKnown(want, before Settings) Settings {
	keep(&want.Display, before.Display)
	keep(&want.Description, before.Description)
	keep(&want.Start, before.Start)
	keep(&want.Dependencies, before.Dependencies)
	keep(&want.Recovery, before.Recovery)
	keep(&want.Environment, before.Environment)
	return want
}

func keep[T any](want **T, before *T) {
	if before == nil {
		*want = nil
	}
}

// same tells whether nothing that want says differs from before, as far as
// before is known.
func same(want, before Settings) bool {
	return node.SameCommand(want.Command, before.Command) &&
		equal(want.Display, before.Display, sameValue[string]) &&
		equal(want.Description, before.Description, sameValue[string]) &&
		equal(want.Start, before.Start, sameValue[winsvc.Start]) &&
		equal(want.Dependencies, before.Dependencies, sameNames) &&
		equal(want.Recovery, before.Recovery, sameRecovery) &&
		equal(want.Environment, before.Environment, sameNames)
}

func equal[T any](a, b *T, same func(a, b T) bool) bool { return a == nil || b == nil || same(*a, *b) }

func sameValue[T comparable](a, b T) bool { return a == b }

// sameNames tells whether two lists hold the same, in whatever order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func sameRecovery(a, b winsvc.Recovery) bool {
	return a.Reset == b.Reset && slices.Equal(a.Actions, b.Actions) && a.OnNonCrash == b.OnNonCrash && a.Command == b.Command
}
