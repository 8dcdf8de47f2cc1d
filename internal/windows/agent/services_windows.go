package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"

	"github.com/winbake/winbake/internal/windows/node"
)

var states = map[uint32]string{
	windows.SERVICE_STOPPED: node.StateStopped, windows.SERVICE_START_PENDING: node.StateStartPending,
	windows.SERVICE_STOP_PENDING: node.StateStopPending, windows.SERVICE_RUNNING: node.StateRunning,
	windows.SERVICE_CONTINUE_PENDING: "continue-pending", windows.SERVICE_PAUSE_PENDING: "pause-pending", windows.SERVICE_PAUSED: "paused",
}

// What is asked for, and no more: a user who is no administrator may look.
const (
	lookRights   = windows.SERVICE_QUERY_CONFIG | windows.SERVICE_QUERY_STATUS
	changeRights = lookRights | windows.SERVICE_CHANGE_CONFIG | windows.SERVICE_START
)

// withManager opens the service manager for work and closes it.
func withManager(rights uint32, work func(*mgr.Mgr) error) error {
	m, err := windows.OpenSCManager(nil, nil, windows.SC_MANAGER_CONNECT|rights)
	if err != nil {
		return fmt.Errorf("open the service manager: %w", err)
	}
	defer windows.CloseServiceHandle(m) //nolint:errcheck // what work did is done
	return work(&mgr.Mgr{Handle: m})
}

// with opens a service for work and closes it. A service that doesn't exist
// is windows.ERROR_SERVICE_DOES_NOT_EXIST.
func with(name string, rights uint32, work func(*mgr.Service) error) error {
	return withManager(0, func(m *mgr.Mgr) error {
		p, err := windows.UTF16PtrFromString(name)
		if err != nil {
			return err
		}
		h, err := windows.OpenService(m.Handle, p, rights)
		if err != nil {
			return err
		}
		s := &mgr.Service{Name: name, Handle: h}
		defer s.Close() //nolint:errcheck // what work did is done
		return work(s)
	})
}

func (localNode) Service(name string) (*Service, error) {
	enableDebug()
	var out *Service
	err := with(name, lookRights, func(s *mgr.Service) error {
		status, err := s.Query()
		if err != nil {
			return fmt.Errorf("ask for its state: %w", err)
		}
		process := Process{PID: status.ProcessId}
		out = &Service{Name: name, State: states[uint32(status.State)], PID: process.PID, Alive: process.PID != 0 && process.look(), Configuration: configurationOf(s)}
		return nil
	})
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return nil, nil
	}
	return out, err
}

func (w localNode) Services() (all []*Service, err error) {
	err = withManager(windows.SC_MANAGER_ENUMERATE_SERVICE, func(m *mgr.Mgr) error {
		names, err := m.ListServices()
		for _, name := range names {
			if s, err := w.Service(name); err == nil && s != nil { // one that may not be looked at isn't ours
				all = append(all, s)
			}
		}
		return err
	})
	return all, err
}

func (localNode) Dependents(name string) (all []string, err error) {
	err = with(name, windows.SERVICE_ENUMERATE_DEPENDENTS, func(s *mgr.Service) (err error) {
		all, err = s.ListDependentServices(svc.Active)
		return err
	})
	return all, err
}

func (localNode) Set(s Settings) (notes []string, err error) {
	start := uint32(windows.SERVICE_NO_CHANGE)
	if v, ok := s.Start.Get(); ok {
		start = startTypes[v]
	}
	err = with(s.Name, changeRights, func(service *mgr.Service) error {
		err := windows.ChangeServiceConfig(service.Handle, windows.SERVICE_NO_CHANGE, start, windows.SERVICE_NO_CHANGE,
			text(s.Command), nil, nil, joinBlock(s.Dependencies), nil, nil, text(s.Display))
		if err == nil {
			notes, err = configureMore(service, s)
		}
		return err
	})
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		notes, err = create(s, start)
	}
	if errors.Is(err, windows.ERROR_SERVICE_MARKED_FOR_DELETE) || errors.Is(err, windows.ERROR_DUPLICATE_SERVICE_NAME) {
		return nil, ErrMarked
	}
	return notes, err
}

func create(s Settings, start uint32) (notes []string, err error) {
	if start == windows.SERVICE_NO_CHANGE {
		start = windows.SERVICE_DEMAND_START
	}
	err = withManager(windows.SC_MANAGER_CREATE_SERVICE, func(m *mgr.Mgr) error {
		h, err := windows.CreateService(m.Handle, text(node.Say(s.Name)), text(s.Display), changeRights, windows.SERVICE_WIN32_OWN_PROCESS, start,
			windows.SERVICE_ERROR_NORMAL, text(s.Command), nil, nil, joinBlock(s.Dependencies), text(s.Account), nil)
		if err != nil {
			return fmt.Errorf("make the service: %w", err)
		}
		service := &mgr.Service{Name: s.Name, Handle: h}
		defer service.Close() //nolint:errcheck // it is made
		notes, err = configureMore(service, s)
		return err
	})
	return notes, err
}

func (w localNode) Delete(ctx context.Context, name string) error {
	err := with(name, windows.DELETE, (*mgr.Service).Delete)
	switch {
	case errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST):
		return nil
	case errors.Is(err, windows.ERROR_SERVICE_MARKED_FOR_DELETE):
		// It was asked for before: the name is free when its last holder goes.
	case err != nil:
		return err
	}
	gone, err := wait(ctx, 10*time.Second, func() (bool, error) {
		s, err := w.Service(name)
		return s == nil, err
	})
	if err == nil && !gone {
		return ErrMarked
	}
	return err
}

func (localNode) Start(name string) error {
	return with(name, windows.SERVICE_START, func(s *mgr.Service) error { return s.Start() })
}

func (localNode) Stop(name string) error {
	err := with(name, windows.SERVICE_STOP, func(s *mgr.Service) error {
		var status windows.SERVICE_STATUS
		return windows.ControlService(s.Handle, windows.SERVICE_CONTROL_STOP, &status)
	})
	if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return nil
	}
	return err
}
