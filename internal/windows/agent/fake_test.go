package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// fakeNode is a service manager and its processes for the tests of a change,
// which cut it short between any two steps: thousands of runs, of which Wine
// would do one a second. What a real manager does is tested on Wine (test/wine/winenode).
//
// A program is what its file holds: one that begins with "good" serves its
// service's pipes, any other ends at once.
type fakeNode struct {
	services map[string]*fakeService
	started  uint32
	stopped  int // how often one was asked to
	// stubborn programs go on when their service has stopped.
	stubborn bool
	notAdmin bool
	marked   bool
	strays   []Process
	pipes    map[string]uint32 // served by
	names    map[string][]string
}

type fakeService struct {
	settings Settings
	pid      uint32 // 0: stopped
	ghost    bool   // the manager says running of a process that was killed
}

func newFakeNode() *fakeNode {
	return &fakeNode{services: map[string]*fakeService{}, pipes: map[string]uint32{}, names: map[string][]string{}, started: 100}
}

func (n *fakeNode) Describe() (string, string)   { return "fake", "Windows" }
func (n *fakeNode) Administrator() (bool, error) { return !n.notAdmin, nil }
func (n *fakeNode) serves(name string) []string  { return n.names[name] }
func (n *fakeNode) describe(name string) *Service {
	s := n.services[name]
	out := &Service{Name: name, State: node.StateStopped, PID: s.pid, Alive: s.pid != 0 && !s.ghost,
		Configuration: s.settings.Configuration}
	out.Display, out.Description = node.Say(value(s.settings.Display)), node.Say(value(s.settings.Description))
	out.Recovery = node.Unknown[winsvc.Recovery]("invalid level")
	if s.pid != 0 {
		out.State = node.StateRunning
	}
	return out
}

// Dependents are those that run, as Windows tells them.
func (n *fakeNode) Dependents(name string) (running []string, err error) {
	for _, d := range slices.Sorted(maps.Keys(n.services)) {
		if s := n.services[d]; slices.Contains(value(s.settings.Dependencies), name) && s.pid != 0 {
			running = append(running, d)
		}
	}
	return running, nil
}

func (n *fakeNode) Service(name string) (*Service, error) {
	if n.services[name] == nil {
		return nil, nil
	}
	return n.describe(name), nil
}

func (n *fakeNode) Services() (all []*Service, err error) {
	for _, name := range slices.Sorted(maps.Keys(n.services)) {
		all = append(all, n.describe(name))
	}
	return all, nil
}

func (n *fakeNode) Set(s Settings) ([]string, error) {
	if n.marked {
		return nil, ErrMarked
	}
	old := n.services[s.Name]
	if old == nil {
		n.services[s.Name] = &fakeService{settings: full(s)}
		return nil, nil
	}
	if value(s.Command) == "" {
		return nil, nil
	}
	if _, ok := s.Recovery.Get(); ok {
		return nil, errors.New("the old recovery actions aren't known and are lost")
	}
	s.Display, s.Description = cmp.Or(s.Display, old.settings.Display), cmp.Or(s.Description, old.settings.Description)
	old.settings = full(s)
	return nil, nil
}

func value[T any](t node.Told[T]) T {
	v, _ := t.Get()
	return v
}

func full(s Settings) Settings {
	_, start := s.Start.Get()
	_, dependencies := s.Dependencies.Get()
	_, environment := s.Environment.Get()
	if !start || !dependencies || !environment {
		panic("a setting that is known is left out")
	}
	return s
}

func (n *fakeNode) Delete(_ context.Context, name string) error {
	delete(n.services, name)
	return nil
}

func (n *fakeNode) Start(name string) error {
	s := n.services[name]
	if s.pid != 0 || value(s.settings.Start) == winsvc.StartDisabled {
		return errors.New("it runs already, or is disabled")
	}
	path := programOf(s.settings.Configuration)
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(string(data), "good") {
		return nil // it starts, and ends
	}
	for _, p := range n.serves(name) {
		if n.pipes[p] != 0 {
			return nil // it panics: the pipe is somebody's
		}
	}
	n.started++
	s.pid, s.ghost = n.started, false
	for _, p := range n.serves(name) {
		n.pipes[p] = s.pid
	}
	return nil
}

func (n *fakeNode) Stop(name string) error {
	n.stopped++
	s := n.services[name]
	if running, _ := n.Dependents(name); len(running) > 0 {
		return errors.New("services that run depend on it")
	}
	if n.stubborn && !s.ghost {
		n.strays = append(n.strays, Process{s.pid, programOf(s.settings.Configuration)})
	} else {
		n.release(s.pid)
	}
	s.pid, s.ghost = 0, false
	return nil
}

func (n *fakeNode) release(pid uint32) {
	maps.DeleteFunc(n.pipes, func(_ string, owner uint32) bool { return owner == pid })
}

func (n *fakeNode) Processes() ([]Process, error) {
	all := slices.Clone(n.strays)
	for _, s := range n.services {
		if s.pid != 0 && !s.ghost {
			all = append(all, Process{s.pid, programOf(s.settings.Configuration)})
		}
	}
	return all, nil
}

func (n *fakeNode) End(p Process) error {
	n.release(p.PID)
	n.strays = slices.DeleteFunc(n.strays, func(q Process) bool { return q.PID == p.PID })
	return nil
}

func (n *fakeNode) Pipe(_ context.Context, name string) node.PipeFacts {
	pid, image := n.pipes[name], ""
	all, _ := n.Processes()
	for _, p := range all {
		if p.PID == pid {
			image = p.Image
		}
	}
	return node.PipeFacts{Name: name, Exists: node.Say(pid != 0), PID: node.Say(pid), Image: image, Answer: node.Say(node.AnswerOK)}
}

// kill ends a service's process as a crash does: the manager goes on saying
// that it runs, as Wine's does.
func (n *fakeNode) kill(name string) {
	n.release(n.services[name].pid)
	n.services[name].ghost = true
}

// String is everything that a test compares: services with what they are, and
// whether they run.
func (n *fakeNode) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(n.services)) {
		s := n.services[name]
		fmt.Fprintf(&b, "%s: %s, %s, %q, %q, %q, runs %t, %d pipes\n", name, value(s.settings.Command), value(s.settings.Start), value(s.settings.Display), value(s.settings.Description),
			value(s.settings.Environment), s.pid != 0 && !s.ghost, len(n.pipes))
	}
	return b.String() + fmt.Sprint(len(n.strays), " strays\n")
}
