package agent

import (
	"fmt"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// wanted are the settings that make a service what it should be.
func wanted(s node.Service) Settings {
	env := []string{}
	for _, name := range slices.Sorted(maps.Keys(s.Environment)) {
		env = append(env, name+"="+s.Environment[name])
	}
	return Settings{s.Name, node.Configuration{
		Command: node.Say(s.Command()), Display: node.Say(s.DisplayName()), Description: node.Say(s.Description), Start: node.Say(s.Start),
		Account: node.Say(s.Account), Dependencies: node.Say(s.Dependencies), Recovery: node.Say(s.Recovery), Environment: node.Say(env),
	}}
}

// found are the settings that put a service back to what it is now. What the
// manager doesn't tell can't be put back, so a change leaves it alone (see
// onlyKnown).
func found(s *Service) (*Settings, error) {
	if _, ok := s.Command.Get(); !ok {
		return nil, &fault.Error{What: fmt.Sprintf("the service manager doesn't tell the command of service %s, so it couldn't be put back: %s", s.Name, s.Command.Reason()),
			Fix: "run as an administrator"}
	}
	return &Settings{s.Name, s.Configuration}, nil
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

func keep[T any](want *node.Told[T], before node.Told[T]) {
	if _, ok := before.Get(); !ok {
		*want = node.Told[T]{}
	}
}

// same tells whether nothing that want says differs from before, as far as
// before is known.
func same(want, before Settings) bool {
	return !restarts(want, before) &&
		equal(want.Display, before.Display, sameValue[string]) &&
		equal(want.Description, before.Description, sameValue[string]) &&
		equal(want.Start, before.Start, sameValue[winsvc.Start]) &&
		equal(want.Dependencies, before.Dependencies, sameNames) &&
		equal(want.Recovery, before.Recovery, sameRecovery)
}

// restarts tells whether its process has to be started again to get what want says.
func restarts(want, before Settings) bool {
	return !equal(want.Command, before.Command, node.SameCommand) || !equal(want.Environment, before.Environment, sameNames)
}

func equal[T any](a, b node.Told[T], same func(a, b T) bool) bool {
	x, okX := a.Get()
	y, okY := b.Get()
	return !okX || !okY || same(x, y)
}

func sameValue[T comparable](a, b T) bool { return a == b }

// sameNames tells whether two lists hold the same, in whatever order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func sameRecovery(a, b winsvc.Recovery) bool {
	return slices.Equal(a.Actions, b.Actions) && (len(a.Actions) == 0 || a.Reset == b.Reset) && a.OnNonCrash == b.OnNonCrash && a.Command == b.Command
}
