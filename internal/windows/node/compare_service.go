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

// The states of a service, as `sc query` names them.
const (
	StateRunning      = "running"
	StateStopped      = "stopped"
	StateStartPending = "start-pending"
	StateStopPending  = "stop-pending"
)

func (c *comparison) service(want Service) {
	object := "service " + want.Name
	got := first(c.facts.Services, func(s ServiceFacts) bool { return strings.EqualFold(s.Name, want.Name) })
	check(c, ServiceAbsent, object, got.Exists, want.Command(), there("no such service"))
	if len(want.Pipes) > 0 {
		c.rivals(object, want, got)
	}
	if want.LogDirectory != "" {
		check(c, LogDirectory, want.LogDirectory, got.LogDirectory, "a folder", there("no such folder"))
	}
	// An idle one is stopped, and may be: its start type leaves the start to
	// others. WMCO starts its manual ones.
	idle := got.State.Value == StateStopped && (want.Start == winsvc.StartDisabled || want.Start == winsvc.StartManual && !c.managed())
	if got.Exists.Value {
		c.settings(object, want, got)
		c.running(object, got, idle)
		if want.Log != "" && want.Version != "" && !idle {
			check(c, LogVersion, object, got.LogVersion, want.Version, func(v string) (finding.Severity, string) {
				return blockUnless(v == want.Version)(v + ", by " + want.Log)
			})
		}
	}
	for _, p := range want.Pipes {
		c.pipe(p, got, idle)
	}
}

func (c *comparison) settings(object string, want Service, got ServiceFacts) {
	check(c, ServiceCommand, object, got.Command, want.Command(), func(line string) (finding.Severity, string) {
		return blockUnless(SameCommand(line, want.Command()))(line)
	})
	c.unlessManaged(check(c, ServiceStart, object, got.Start, string(want.Start), func(s winsvc.Start) (finding.Severity, string) {
		if s == winsvc.StartDisabled || want.Start != winsvc.StartManual && s == winsvc.StartManual {
			return blockUnless(s == want.Start)(string(s))
		}
		return unless(finding.Warn, s == want.Start)(string(s))
	}))
	if len(want.Recovery.Actions) > 0 {
		// A node without it works until something crashes. On a node of WMCO's even
		// not knowing is no fault.
		f := check(c, ServiceRecovery, object, got.Recovery, recoveryText(want.Recovery), func(r winsvc.Recovery) (finding.Severity, string) {
			return unless(finding.Warn, recoveryText(r) == recoveryText(want.Recovery))(recoveryText(r))
		})
		if f.Severity == finding.Unknown && c.managed() {
			f.Severity = finding.Warn
		}
		c.unlessManaged(f)
	}
	check(c, ServiceAccount, object, got.Account, account(want.Account), func(a string) (finding.Severity, string) {
		return blockUnless(strings.EqualFold(account(a), account(want.Account)))(a)
	})
	check(c, ServiceDependencies, object, got.Dependencies, listed(want.Dependencies), func(d []string) (finding.Severity, string) {
		return unless(finding.Warn, listed(d) == listed(want.Dependencies))(listed(d))
	})
	variables := cmp.Or(strings.Join(slices.Sorted(maps.Keys(want.Environment)), ", "), "no variables")
	c.unlessManaged(check(c, ServiceEnvironment, object, got.Environment, variables, func(env []string) (finding.Severity, string) {
		wrong := environmentDiffers(env, want.Environment)
		return blockUnless(wrong == "")(wrong)
	}))
}

// unlessManaged makes a difference one of no matter on a node of WMCO's: its
// daemon creates services with a manual start and without recovery actions, and
// makes them run every two minutes (WMCO, pkg/daemon/controller).
func (c *comparison) unlessManaged(f *finding.Finding) {
	if c.managed() && (f.Severity == finding.Block || f.Severity == finding.Warn) {
		f.Severity, f.Remedy = finding.Info, ""
		f.Why = "WMCO manages this node: its daemon starts the service and keeps it running, and leaves this setting alone"
	}
}

func (c *comparison) managed() bool {
	managed, ok := c.facts.Managed.Get()
	return ok && managed
}

// running asks for the state and for the process: a manager may say running
// of a service whose process was killed.
func (c *comparison) running(object string, got ServiceFacts, idle bool) {
	check(c, ServiceRunning, object, got.State, "running", func(state string) (finding.Severity, string) {
		if state != StateRunning {
			return blockUnless(idle)(state)
		}
		return blockUnless(got.Alive)(fmt.Sprintf("the service manager says running, but there is no process %d", got.PID.Value))
	})
}

func (c *comparison) rivals(object string, want Service, got ServiceFacts) {
	var remedies []string
	f := check(c, SecondOwner, object, got.Rivals, "no other service for "+Base(want.Path), func(rs []*Registered) (finding.Severity, string) {
		severity, seen := finding.Pass, []string{}
		for _, r := range rs {
			start, told := r.Start.Get()
			if r.State == StateStopped && told && start == winsvc.StartDisabled {
				continue // nobody starts it
			}
			severity = max(severity, finding.Warn)
			if r.State != StateStopped || !told || start == winsvc.StartAutomatic || start == winsvc.StartDelayed {
				severity = finding.Block
			}
			seen = append(seen, fmt.Sprintf("service %s (%s): %s", r.Name, r.State, r.Command.Value))
			if r.State != StateStopped {
				remedies = append(remedies, `sc.exe stop "`+r.Name+`"`)
			}
			remedies = append(remedies, `sc.exe config "`+r.Name+`" start= disabled`)
		}
		return severity, strings.Join(seen, "; ")
	})
	if len(remedies) > 0 {
		f.Remedy = "on the node: " + strings.Join(remedies, ", then ")
	}
}

// pipe judges one pipe. Of an idle service it needn't be there.
func (c *comparison) pipe(name string, s ServiceFacts, idle bool) {
	got := first(c.facts.Pipes, func(p PipeFacts) bool { return strings.EqualFold(p.Name, name) })
	check(c, PipeMissing, name, got.Exists, "a pipe", func(exists bool) (finding.Severity, string) { return blockUnless(exists || idle)("no such pipe") })
	if !got.Exists.Value {
		return
	}
	c.pipeOwner(name, got, s)
	check(c, PipeAnswer, name, got.Answer, AnswerOK, func(a string) (finding.Severity, string) { return blockUnless(a == AnswerOK)(a) })
}

func (c *comparison) pipeOwner(name string, got PipeFacts, s ServiceFacts) {
	pid, ok := s.PID.Get()
	if !ok {
		c.add(PipeOwner, name, finding.Unknown, s.PID.Reason(), "the service's process")
		return
	}
	f := check(c, PipeOwner, name, got.PID, fmt.Sprintf("process %d of service %s", pid, s.Name), func(owner uint32) (finding.Severity, string) {
		return blockUnless(owner == pid && pid != 0)(strings.TrimSuffix(fmt.Sprintf("process %d, %s", owner, got.Image), ", "))
	})
	if owner := got.PID.Value; owner != 0 && f.Severity == finding.Block {
		f.Remedy = fmt.Sprintf(`on the node: tasklist /svc /fi "PID eq %d" tells what it is, taskkill /f /pid %d ends it; then %s`, owner, owner, f.Remedy)
	}
}
