package node

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// managedWhy is why start type and recovery don't matter on a node of WMCO's:
// its daemon creates services with a manual start and without recovery
// actions, and makes them run every two minutes (WMCO, pkg/daemon/controller).
const managedWhy = "WMCO manages this node: its daemon starts the service and keeps it running, and leaves this setting alone"

func (c *comparison) service(want Service) {
	object := "service " + want.Name
	i := slices.IndexFunc(c.facts.Services, func(s ServiceFacts) bool { return strings.EqualFold(s.Name, want.Name) })
	if i < 0 {
		c.unknown(ServiceAbsent, object, "nobody asked the node for it", want.Command())
		return
	}
	got := c.facts.Services[i]
	mustBeThere(c, ServiceAbsent, object, got.Exists, want.Command(), "no such service")
	c.rivals(object, want, got)
	if want.LogDirectory != "" {
		mustBeThere(c, LogDirectory, want.LogDirectory, got.LogDirectory, "a folder", "no such folder")
	}
	if exists, _ := got.Exists.Get(); exists {
		c.settings(object, want, got)
		c.running(object, want, got)
		if !c.idle(want, got) {
			c.logVersion(object, want, got)
		}
	}
	for _, p := range want.Pipes {
		c.pipe(p, got, c.idle(want, got))
	}
}

// idle tells whether a service is stopped, and may be: its start type leaves
// the start to others. WMCO starts its manual ones.
func (c *comparison) idle(want Service, got ServiceFacts) bool {
	mayBe := want.Start == winsvc.StartDisabled || want.Start == winsvc.StartManual && !c.managed()
	state, told := got.State.Get()
	return mayBe && told && state == StateStopped
}

func (c *comparison) settings(object string, want Service, got ServiceFacts) {
	must(c, ServiceCommand, object, got.Command, want.Command(), func(line string) bool { return SameCommand(line, want.Command()) }, itself)
	judge(c, ServiceStart, object, got.Start, string(want.Start), func(s winsvc.Start) *says {
		switch {
		case s == want.Start:
			return nil
		case s == winsvc.StartDisabled, want.Start != winsvc.StartManual && s == winsvc.StartManual:
			return c.unlessManaged(block(string(s)))
		}
		return c.unlessManaged(&says{severity: finding.Warn, observed: string(s)})
	})
	if len(want.Recovery.Actions) > 0 {
		c.recovery(object, want.Recovery, got)
	}
	must(c, ServiceAccount, object, got.Account, account(want.Account),
		func(a string) bool { return strings.EqualFold(account(a), account(want.Account)) }, itself)
	judge(c, ServiceDependencies, object, got.Dependencies, listed(want.Dependencies), func(d []string) *says {
		if listed(d) == listed(want.Dependencies) {
			return nil
		}
		return &says{severity: finding.Warn, observed: listed(d)}
	})
	judge(c, ServiceEnvironment, object, got.Environment, cmp.Or(strings.Join(slices.Sorted(maps.Keys(want.Environment)), ", "), "no variables"), func(env []string) *says {
		if diff := environmentDiffers(env, want.Environment); diff != "" {
			return c.unlessManaged(block(diff))
		}
		return nil
	})
}

// recovery is a warning: a node without it works until something crashes. On
// a node of WMCO's even not knowing is no fault.
func (c *comparison) recovery(object string, want winsvc.Recovery, got ServiceFacts) {
	if _, ok := got.Recovery.Get(); !ok && c.managed() {
		c.add(ServiceRecovery, object, says{severity: finding.Info, observed: "the node doesn't tell: " + got.Recovery.Reason(), expected: recoveryText(want), why: managedWhy})
		return
	}
	judge(c, ServiceRecovery, object, got.Recovery, recoveryText(want), func(r winsvc.Recovery) *says {
		if recoveryText(r) == recoveryText(want) {
			return nil
		}
		return c.unlessManaged(&says{severity: finding.Warn, observed: recoveryText(r)})
	})
}

func (c *comparison) unlessManaged(s *says) *says {
	if c.managed() {
		s.severity, s.why = finding.Info, managedWhy
	}
	return s
}

func (c *comparison) managed() bool {
	managed, ok := c.facts.Managed.Get()
	return ok && managed
}

// running asks for the state and for the process: a manager may say running
// of a service whose process was killed.
func (c *comparison) running(object string, want Service, got ServiceFacts) {
	if c.idle(want, got) {
		c.add(ServiceRunning, object, says{severity: finding.Pass, observed: "stopped, which " + string(want.Start) + " allows"})
		return
	}
	judge(c, ServiceRunning, object, got.State, "running", func(state string) *says {
		if state != StateRunning {
			return block(state)
		}
		alive, ok := got.Alive.Get()
		switch {
		case !ok:
			return &says{severity: finding.Unknown, observed: "the service manager says running; whether the process lives isn't told: " + got.Alive.Reason()}
		case !alive:
			pid, _ := got.PID.Get()
			return block(fmt.Sprintf("the service manager says running, but there is no process %d", pid))
		}
		return nil
	})
}

// The states of a service, as `sc query` names them.
const (
	StateRunning      = "running"
	StateStopped      = "stopped"
	StateStartPending = "start-pending"
	StateStopPending  = "stop-pending"
)

func (c *comparison) rivals(object string, want Service, got ServiceFacts) {
	if len(want.Pipes) == 0 {
		return
	}
	judge(c, SecondOwner, object, got.Rivals, "no other service for "+Base(want.Path), func(rs []Rival) *says {
		s := &says{severity: finding.Warn}
		var seen, remedies []string
		for _, r := range rs {
			start, told := r.Start.Get()
			if r.State == StateStopped && told && start == winsvc.StartDisabled {
				continue // nobody starts it
			}
			if r.State != StateStopped || !told || start == winsvc.StartAutomatic || start == winsvc.StartDelayed {
				s.severity = finding.Block
			}
			seen = append(seen, fmt.Sprintf("service %s (%s): %s", r.Name, r.State, r.Command))
			if r.State != StateStopped {
				remedies = append(remedies, `sc.exe stop "`+r.Name+`"`)
			}
			remedies = append(remedies, `sc.exe config "`+r.Name+`" start= disabled`)
		}
		if len(seen) == 0 {
			return nil
		}
		s.observed, s.remedy = strings.Join(seen, "; "), "on the node: "+strings.Join(remedies, ", then ")
		return s
	})
}

func (c *comparison) logVersion(object string, want Service, got ServiceFacts) {
	if want.Log == "" || want.Version == "" {
		return
	}
	must(c, LogVersion, object, got.LogVersion, want.Version, func(v string) bool { return v == want.Version },
		func(v string) string { return v + ", by " + want.Log })
}

// pipe judges one pipe. Of an idle service it needn't be there.
func (c *comparison) pipe(name string, s ServiceFacts, idle bool) {
	i := slices.IndexFunc(c.facts.Pipes, func(p PipeFacts) bool { return strings.EqualFold(p.Name, name) })
	if i < 0 {
		c.unknown(PipeMissing, name, "nobody asked the node for it", "a pipe")
		return
	}
	got := c.facts.Pipes[i]
	must(c, PipeMissing, name, got.Exists, "a pipe", func(there bool) bool { return there || idle }, func(bool) string { return "no such pipe" })
	if there, _ := got.Exists.Get(); !there {
		return
	}
	c.pipeOwner(name, got, s)
	must(c, PipeAnswer, name, got.Answer, AnswerOK, func(a string) bool { return a == AnswerOK }, itself)
}

func (c *comparison) pipeOwner(name string, got PipeFacts, s ServiceFacts) {
	pid, ok := s.PID.Get()
	if !ok {
		c.unknown(PipeOwner, name, s.PID.Reason(), "the service's process")
		return
	}
	expected := fmt.Sprintf("process %d of service %s", pid, s.Name)
	judge(c, PipeOwner, name, got.PID, expected, func(owner uint32) *says {
		if owner == pid && pid != 0 {
			return nil
		}
		says := block(fmt.Sprintf("process %d", owner))
		if image, ok := got.Image.Get(); ok {
			says.observed += ", " + image
		}
		if owner != 0 {
			says.remedy = fmt.Sprintf(`on the node: tasklist /svc /fi "PID eq %d" tells what it is, taskkill /f /pid %d ends it; then %s`, owner, owner, rule(PipeOwner).Remedy)
		}
		return says
	})
}
