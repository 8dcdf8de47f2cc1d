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

// configurationOf reads it with the raw calls: mgr's own give nothing at all
// where one of them fails, as some do on Wine.
func configurationOf(s *mgr.Service) (out node.Configuration) {
	buf, err := query(func(p *byte, n uint32, need *uint32) error {
		return windows.QueryServiceConfig(s.Handle, (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(p)), n, need)
	})
	c := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buf[0]))
	out.Command, out.Display = told(windows.UTF16PtrToString(c.BinaryPathName), err), told(windows.UTF16PtrToString(c.DisplayName), err)
	out.Account, out.Dependencies = told(windows.UTF16PtrToString(c.ServiceStartName), err), told(splitBlock(c.Dependencies), err)
	out.Start = startOf(s.Handle, c.StartType, err)
	buf, err = query2(s.Handle, windows.SERVICE_CONFIG_DESCRIPTION)
	out.Description = told(windows.UTF16PtrToString((*windows.SERVICE_DESCRIPTION)(unsafe.Pointer(&buf[0])).Description), err)
	out.Recovery = told(recoveryOf(s))
	out.Environment = told(environmentOf(s.Name))
	return out
}

// query calls fn again with as much room as it asks for. With an error what it
// returns is zeros.
func query(fn func(p *byte, n uint32, need *uint32) error) ([]byte, error) {
	buf := aligned(1 << 10)
	need := uint32(0)
	err := fn(&buf[0], uint32(len(buf)), &need)
	if errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) {
		buf = aligned(need)
		err = fn(&buf[0], uint32(len(buf)), &need)
	}
	if err != nil {
		return aligned(1 << 10), fmt.Errorf("ask the service manager: %w", err)
	}
	return buf, nil
}

// aligned makes a buffer that structures with pointers may be read from.
func aligned(n uint32) []byte {
	words := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
}

func query2(h windows.Handle, level uint32) ([]byte, error) {
	return query(func(p *byte, n uint32, need *uint32) error { return windows.QueryServiceConfig2(h, level, p, n, need) })
}

func startOf(h windows.Handle, kind uint32, err error) node.Told[winsvc.Start] {
	delayed := false
	if err == nil && kind == windows.SERVICE_AUTO_START {
		var buf []byte
		buf, err = query2(h, windows.SERVICE_CONFIG_DELAYED_AUTO_START_INFO)
		delayed = (*windows.SERVICE_DELAYED_AUTO_START_INFO)(unsafe.Pointer(&buf[0])).IsDelayedAutoStartUp != 0
		if unsupported(err) {
			err = nil // a manager that knows no delayed start delays none
		}
	}
	for start, k := range startTypes {
		if k == kind && delayed == (start == winsvc.StartDelayed) {
			return told(start, err)
		}
	}
	return node.Unknown[winsvc.Start](fmt.Sprintf("start type %d", kind))
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

const servicesKey = `SYSTEM\CurrentControlSet\Services\`

func environmentOf(name string) ([]string, error) {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, servicesKey+name, registry.QUERY_VALUE)
	if err != nil {
		return nil, fmt.Errorf("open its registry key: %w", err)
	}
	defer k.Close() //nolint:errcheck // only read
	env, _, err := k.GetStringsValue("Environment")
	if errors.Is(err, registry.ErrNotExist) {
		return []string{}, nil
	}
	return env, err
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
	s, _ := t.Get()
	if s == "" {
		return nil
	}
	p, _ := windows.UTF16PtrFromString(s)
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

// splitBlock reads strings that end in zeros, the last one in two.
func splitBlock(p *uint16) []string {
	out := []string{}
	for p != nil {
		text := windows.UTF16PtrToString(p)
		if text == "" {
			break
		}
		out = append(out, text)
		n := len(utf16.Encode([]rune(text))) + 1
		p = (*uint16)(unsafe.Add(unsafe.Pointer(p), n*2))
	}
	return out
}

// joinBlock is splitBlock's reverse; an empty list is two zeros, which clears
// what was there.
func joinBlock(t node.Told[[]string]) *uint16 {
	texts, ok := t.Get()
	if !ok {
		return nil
	}
	return &utf16.Encode([]rune(strings.Join(texts, "\x00") + "\x00\x00"))[0]
}
