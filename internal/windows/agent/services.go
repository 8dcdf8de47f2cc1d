package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
)

// poll is how often something that is waited for is looked at.
const poll = 100 * time.Millisecond

// wait looks until done says so, or for at most d.
func wait(ctx context.Context, d time.Duration, done func() (bool, error)) (bool, error) {
	for end := time.Now().Add(d); ; {
		ok, err := done()
		if ok || err != nil {
			return ok, err
		}
		if time.Now().After(end) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(min(poll, max(d/10, time.Millisecond))):
		}
	}
}

// stop stops what depends on a service, and the service: its state says so and
// its process is gone. A process that outlives the time it is given is ended;
// csi-proxy's is one on Wine, where its service says stopped and it goes on
// serving its pipes.
func (c *change) stop(ctx context.Context, s serviceChange) error {
	for _, d := range s.Dependents {
		if err := c.stopOne(ctx, d); err != nil {
			return err
		}
	}
	return c.stopOne(ctx, s.Name)
}

func (c *change) stopOne(ctx context.Context, name string) error {
	s, err := c.sys.Service(name)
	if err != nil || s == nil {
		return err
	}
	image := programOf(s.Configuration)
	if s.State != node.StateStopped {
		c.Say("stopping service " + name)
		if err := c.sys.Stop(name); err != nil {
			c.note(fmt.Sprintf("service %s didn't take the request to stop: %v", name, err))
		} else {
			c.did(name + " stopped")
		}
	}
	left, err := c.waitGone(ctx, c.Stop, s, image)
	for _, p := range left {
		c.note(fmt.Sprintf("process %d of service %s outlived its stop by %s and was ended", p.PID, name, c.Stop))
		if err := c.sys.End(p); err != nil {
			return &fault.Error{What: fmt.Sprintf("process %d of service %s can't be ended: %v", p.PID, name, err), Fix: "end it on the node, then run this again", Err: err}
		}
	}
	if len(left) > 0 {
		left, err = c.waitGone(ctx, max(c.Stop, killTime), s, image)
	}
	if err == nil && len(left) > 0 {
		err = &fault.Error{What: fmt.Sprintf("service %s can't be stopped: its process goes on after it was ended", name), Fix: "restart the node, then run this again"}
	}
	return err
}

// killTime is how long a process that was ended may take to be gone, however
// little time it was given to end by itself.
const killTime = 5 * time.Second

// waitGone waits until nothing runs a service's program, nor has its process, and
// returns what still does after d.
func (c *change) waitGone(ctx context.Context, d time.Duration, s *Service, image string) (left []Process, err error) {
	_, err = wait(ctx, d, func() (bool, error) {
		if left, err = c.sys.Processes(); err != nil {
			return false, fmt.Errorf("list the node's processes: %w", err)
		}
		left = slices.DeleteFunc(left, func(p Process) bool { return !node.SamePath(p.Image, image) && (p.PID != s.PID || p.Image != "") })
		now, err := c.sys.Service(s.Name)
		// A manager may say running of a process that was killed long ago.
		return len(left) == 0 && (now == nil || now.State == node.StateStopped || now.PID == 0 || now.PID == s.PID), err
	})
	return left, err
}

func (c *change) settle(ctx context.Context, s serviceChange) error {
	var notes []string
	var err error
	if s.After == nil {
		c.did(s.Name + " removed")
		err = c.sys.Delete(ctx, s.Name)
	} else {
		if s.Before == nil {
			c.did(s.Name + " made")
		}
		notes, err = c.sys.Set(*s.After)
	}
	for _, n := range notes {
		c.note("service " + s.Name + ": " + n)
	}
	if errors.Is(err, ErrMarked) {
		return markedFault(s.Name)
	}
	if err != nil {
		return fmt.Errorf("set up service %s: %w", s.Name, err)
	}
	return nil
}

// start starts a service that doesn't run, waits until each of its pipes
// answers, and starts what depended on it.
func (c *change) start(ctx context.Context, s serviceChange) error {
	now, err := c.sys.Service(s.Name)
	if err != nil {
		return err
	}
	if now == nil || !runs(now) {
		c.Say("starting service " + s.Name)
		if now != nil && now.State != node.StateStopped { // of a process that was killed
			_ = c.sys.Stop(s.Name) // what counts is whether it starts
		}
		if err := c.sys.Start(s.Name); err != nil {
			return &fault.Error{What: fmt.Sprintf("service %s doesn't start: %v", s.Name, err), Fix: "look into its log and the node's System event log", Err: err}
		}
		c.did(s.Name + " started")
	}
	if err := c.serves(ctx, s); err != nil {
		return err
	}
	for _, d := range slices.Backward(s.Dependents) {
		now, err := c.sys.Service(d)
		if err == nil && now != nil && !runs(now) {
			err = c.sys.Start(d)
		}
		if err != nil {
			return fmt.Errorf("start %s, which depends on it: %w", d, err)
		}
	}
	return nil
}

// steady is how long a service without pipes must run to count as started.
const steady = 2 * time.Second

// dead is how long a started service may have no process. The manager starts
// it again after a failure no sooner than its recovery actions say.
const dead = time.Second

// serves waits until the service runs and its own process answers on all its
// pipes. A process that ends meanwhile has failed.
func (c *change) serves(ctx context.Context, s serviceChange) error {
	began, wrong := time.Now(), ""
	alive := began
	ok, err := wait(ctx, c.Start, func() (bool, error) {
		now, err := c.sys.Service(s.Name)
		if err != nil || now == nil {
			return false, err
		}
		if now.State != node.StateRunning || !now.Alive {
			wrong = fmt.Sprintf("it is %s, and its process isn't there; %s", now.State, c.pipesWrong(ctx, s, now.PID))
			if now.State != node.StateStartPending && time.Since(alive) > min(dead, c.Start/4) {
				return false, notServing(s, wrong)
			}
			return false, nil
		}
		alive = time.Now()
		wrong = c.pipesWrong(ctx, s, now.PID)
		return wrong == "" && (len(s.Pipes) > 0 || time.Since(began) > steady), nil
	})
	if err == nil && !ok {
		err = notServing(s, wrong)
	}
	return err
}

func notServing(s serviceChange, wrong string) error {
	return &fault.Error{What: fmt.Sprintf("service %s was started and doesn't serve: %s", s.Name, wrong),
		Fix: "look into its log on the node; was it built for it? verify payload IMAGE checks that"}
}

// pipesWrong says what is wrong with the first pipe that isn't right.
func (c *change) pipesWrong(ctx context.Context, s serviceChange, pid uint32) string {
	for _, p := range askAll(ctx, c.sys, s.Pipes) {
		owner, told := p.PID.Get()
		switch {
		case !p.Exists.Value:
			return "no pipe " + p.Name
		case told && owner != pid:
			return fmt.Sprintf("pipe %s is served by process %d, not by its own, %d", p.Name, owner, pid)
		case p.Answer.Value != node.AnswerOK:
			return strings.TrimSpace(fmt.Sprintf("pipe %s doesn't answer: %s %s", p.Name, p.Answer.Value, p.Answer.Reason()))
		}
	}
	return ""
}
