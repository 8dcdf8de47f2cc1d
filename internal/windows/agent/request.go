package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Verb is what is asked of a node.
type Verb string

// The verbs.
const (
	// Install makes files and services what they should be. It replaces no
	// program of a service that is there.
	Install Verb = "install"
	// Upgrade does that too, for services that are there.
	Upgrade Verb = "upgrade"
	// Settle does both: it makes services that aren't there, and replaces the
	// programs of those that are. It is for a machine that an image is made of.
	Settle Verb = "settle"
	// Remove takes away what was installed.
	Remove Verb = "remove"
)

// Request is one change of a node.
type Request struct {
	Protocol int  `json:"protocol"`
	Verb     Verb `json:"verb"`
	// Reference is the image by digest, for the record.
	Reference string `json:"reference,omitempty"`
	// Expectation is what the node should be; nil for Remove, which goes by
	// the record.
	Expectation *node.Expectation `json:"expectation,omitempty"`
	// Managed allows a node that WMCO manages.
	Managed bool  `json:"managed,omitempty"`
	Times   Times `json:"times"`
}

// Result is what came of a request.
type Result struct {
	// Changed tells whether anything was.
	Changed bool `json:"changed"`
	// Recovered says what was put back or ended of a change that was cut
	// short; "" for none.
	Recovered string `json:"recovered,omitempty"`
	// Replaced, Installed and Removed count files.
	Replaced  int `json:"replaced"`
	Installed int `json:"installed"`
	Removed   int `json:"removed"`
	// Services are those that were started, stopped, made or removed.
	Services []string `json:"services,omitempty"`
	// Notes are what a person should know, one sentence each.
	Notes []string `json:"notes,omitempty"`
}

// Line is one line of what verify.exe writes for bake and verify: JSON with
// one field set. The last line is Facts, Result or Fault.
type Line struct {
	Say    string       `json:"say,omitempty"`
	Facts  *node.Facts  `json:"facts,omitempty"`
	Result *Result      `json:"result,omitempty"`
	Fault  *fault.Error `json:"fault,omitempty"`
}

// FaultOf makes any error one that can be sent.
func FaultOf(err error) *fault.Error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return &fault.Error{What: err.Error()}
}

// WriteLine writes one line. That nobody reads any more is no reason to stop
// a change half-way, so its error is dropped.
func WriteLine(w io.Writer, l Line) {
	data, err := json.Marshal(l)
	if err != nil {
		data, _ = json.Marshal(Line{Fault: &fault.Error{What: "encode the answer: " + err.Error()}})
	}
	_, _ = w.Write(append(data, '\n'))
}

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
func found(s *Service) (Settings, error) {
	if _, ok := s.Command.Get(); !ok {
		return Settings{}, &fault.Error{What: fmt.Sprintf("the service manager doesn't tell the command of service %s, so it couldn't be put back: %s", s.Name, s.Command.Reason()),
			Fix: "run as an administrator"}
	}
	return Settings{s.Name, s.Configuration}, nil
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
	return equal(want.Command, before.Command, node.SameCommand) &&
		equal(want.Display, before.Display, sameValue[string]) &&
		equal(want.Description, before.Description, sameValue[string]) &&
		equal(want.Start, before.Start, sameValue[winsvc.Start]) &&
		equal(want.Dependencies, before.Dependencies, sameNames) &&
		equal(want.Recovery, before.Recovery, sameRecovery) &&
		equal(want.Environment, before.Environment, sameNames)
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
	return a.Reset == b.Reset && slices.Equal(a.Actions, b.Actions) && a.OnNonCrash == b.OnNonCrash && a.Command == b.Command
}
