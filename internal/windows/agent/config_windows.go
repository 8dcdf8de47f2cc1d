package agent

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc/mgr"

	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

const servicesKey = `SYSTEM\CurrentControlSet\Services\`

// configurationOf reads where the service manager keeps it
// (https://learn.microsoft.com/windows-hardware/drivers/install/hklm-system-currentcontrolset-services-registry-tree):
// of the calls that ask the manager, those of mgr give nothing at all where Wine
// has no answer to one of them.
func configurationOf(s *mgr.Service) (out node.Configuration) {
	out.Recovery = told(recoveryOf(s))
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, servicesKey+s.Name, registry.QUERY_VALUE)
	if err != nil {
		return out
	}
	defer k.Close() //nolint:errcheck // only read
	for name, into := range map[string]*node.Told[string]{"ImagePath": &out.Command, "DisplayName": &out.Display, "ObjectName": &out.Account, "Description": &out.Description} {
		*into = valueOf(k.GetStringValue(name))
	}
	out.Dependencies, out.Environment = valueOf(k.GetStringsValue("DependOnService")), valueOf(k.GetStringsValue("Environment"))
	kind, _, err := k.GetIntegerValue("Start")
	delayed, _, _ := k.GetIntegerValue("DelayedAutostart") // most services have none
	out.Start = node.Unknown[winsvc.Start](fmt.Sprintf("start type %d, %v", kind, err))
	for start, t := range startTypes {
		if err == nil && uint64(t) == kind && (start == winsvc.StartDelayed) == (delayed != 0 && t == windows.SERVICE_AUTO_START) {
			out.Start = node.Say(start)
		}
	}
	return out
}

// valueOf is one of the registry's. One that isn't there is empty.
func valueOf[T any](v T, _ uint32, err error) node.Told[T] {
	if errors.Is(err, registry.ErrNotExist) {
		err = nil
	}
	return told(v, err)
}

var actionKinds = map[int]winsvc.ActionKind{
	mgr.NoAction: winsvc.ActionNone, mgr.ServiceRestart: winsvc.ActionRestart,
	mgr.ComputerReboot: winsvc.ActionReboot, mgr.RunCommand: winsvc.ActionRun,
}

func recoveryOf(s *mgr.Service) (r winsvc.Recovery, err error) {
	actions, err := s.RecoveryActions()
	if err != nil {
		return r, err
	}
	for _, a := range actions {
		r.Actions = append(r.Actions, winsvc.Action{Kind: actionKinds[a.Type], Delay: a.Delay})
	}
	seconds, err := s.ResetPeriod()
	if err != nil {
		return r, err
	}
	r.Reset = time.Duration(seconds) * time.Second
	if r.Command, err = s.RecoveryCommand(); err != nil {
		return r, err
	}
	r.OnNonCrash, err = s.RecoveryActionsOnNonCrashFailures()
	return r, err
}

func setEnvironment(name string, env []string) error {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, servicesKey+name, registry.SET_VALUE)
	if err != nil {
		return err
	}
	defer k.Close() //nolint:errcheck // the value is set, or the error is told
	if len(env) > 0 {
		return k.SetStringsValue("Environment", env)
	}
	if err := k.DeleteValue("Environment"); !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}

// unsupported tells the answers of a manager that doesn't have a setting:
// Wine's, of versions 8 to 10.
func unsupported(err error) bool {
	return errors.Is(err, windows.ERROR_INVALID_LEVEL) || errors.Is(err, windows.ERROR_CALL_NOT_IMPLEMENTED)
}

var startTypes = map[winsvc.Start]uint32{
	winsvc.StartAutomatic: windows.SERVICE_AUTO_START, winsvc.StartDelayed: windows.SERVICE_AUTO_START,
	winsvc.StartManual: windows.SERVICE_DEMAND_START, winsvc.StartDisabled: windows.SERVICE_DISABLED,
}

// text is what the manager is told, nil for what is left as it is. No text that
// was checked or that the manager told has a character that it can't hold.
func text(t node.Told[string]) *uint16 {
	if t.Value == "" {
		return nil
	}
	p, _ := windows.UTF16PtrFromString(t.Value)
	return p
}

// configureMore sets what CreateService doesn't. What the manager doesn't have
// becomes a note.
func configureMore(service *mgr.Service, s Settings) (notes []string, err error) {
	set := func(what string, fn func() error) {
		if serr := fn(); unsupported(serr) {
			notes = append(notes, fmt.Sprintf("the service manager has no %s: %v", what, serr))
		} else if serr != nil && err == nil {
			err = fmt.Errorf("set its %s: %w", what, serr)
		}
	}
	if description, ok := s.Description.Get(); ok {
		set("description", func() error { return setDescription(service.Handle, description) })
	}
	if start, ok := s.Start.Get(); ok && startTypes[start] == windows.SERVICE_AUTO_START {
		set("delayed start", func() error { return setDelayed(service.Handle, start == winsvc.StartDelayed) })
	}
	if recovery, ok := s.Recovery.Get(); ok {
		set("recovery actions", func() error { return setRecovery(service, recovery) })
	}
	if environment, ok := s.Environment.Get(); ok {
		set("environment", func() error { return setEnvironment(s.Name, environment) })
	}
	return notes, err
}

func setDescription(h windows.Handle, description string) error {
	p, err := windows.UTF16PtrFromString(description)
	if err != nil {
		return err
	}
	d := windows.SERVICE_DESCRIPTION{Description: p}
	return windows.ChangeServiceConfig2(h, windows.SERVICE_CONFIG_DESCRIPTION, (*byte)(unsafe.Pointer(&d)))
}

func setDelayed(h windows.Handle, delayed bool) error {
	d := windows.SERVICE_DELAYED_AUTO_START_INFO{}
	if delayed {
		d.IsDelayedAutoStartUp = 1
	}
	err := windows.ChangeServiceConfig2(h, windows.SERVICE_CONFIG_DELAYED_AUTO_START_INFO, (*byte)(unsafe.Pointer(&d)))
	if unsupported(err) && !delayed {
		return nil
	}
	return err
}

func setRecovery(s *mgr.Service, r winsvc.Recovery) error {
	var actions []mgr.RecoveryAction
	for _, a := range r.Actions {
		for kind, name := range actionKinds {
			if name == a.Kind {
				actions = append(actions, mgr.RecoveryAction{Type: kind, Delay: a.Delay})
			}
		}
	}
	err := s.ResetRecoveryActions()
	if err == nil && len(actions) > 0 {
		err = s.SetRecoveryActions(actions, uint32(r.Reset/time.Second))
	}
	if err == nil {
		err = s.SetRecoveryCommand(r.Command)
	}
	if err == nil {
		err = s.SetRecoveryActionsOnNonCrashFailures(r.OnNonCrash)
	}
	return err
}

// joinBlock is a list as the manager takes it: strings that end in zeros, the last
// one in two. An empty list is two zeros, which clears what was there.
func joinBlock(t node.Told[[]string]) *uint16 {
	texts, ok := t.Get()
	if !ok {
		return nil
	}
	return &utf16.Encode([]rune(strings.Join(texts, "\x00") + "\x00\x00"))[0]
}
