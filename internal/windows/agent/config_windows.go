package agent

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// look reads the service's configuration with the raw calls: mgr's own give
// nothing at all where one of them fails, as some do on Wine.
func (s *Service) look(h windows.Handle) {
	buf, err := query(func(p *byte, n uint32, need *uint32) error {
		return windows.QueryServiceConfig(h, (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(p)), n, need)
	})
	if err != nil {
		why := "QueryServiceConfig: " + err.Error()
		s.Command, s.Display, s.Account = node.Unknown[string](why), node.Unknown[string](why), node.Unknown[string](why)
		s.Start, s.Dependencies = node.Unknown[winsvc.Start](why), node.Unknown[[]string](why)
	} else {
		c := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buf[0]))
		s.Command, s.Display = node.Say(windows.UTF16PtrToString(c.BinaryPathName)), node.Say(windows.UTF16PtrToString(c.DisplayName))
		s.Account, s.Dependencies = node.Say(windows.UTF16PtrToString(c.ServiceStartName)), node.Say(splitBlock(c.Dependencies))
		s.Start = startOf(h, c.StartType)
	}
	s.Description = descriptionOf(h)
	s.Recovery = recoveryOf(h)
	s.Environment = environmentOf(s.Name)
}

// query calls fn again with as much room as it asks for.
func query(fn func(p *byte, n uint32, need *uint32) error) ([]byte, error) {
	buf := aligned(1 << 10)
	for {
		need := uint32(0)
		err := fn(&buf[0], uint32(len(buf)), &need)
		if err == nil {
			return buf, nil
		}
		if !errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) || need <= uint32(len(buf)) {
			return nil, err
		}
		buf = aligned(need)
	}
}

func query2(h windows.Handle, level uint32) ([]byte, error) {
	return query(func(p *byte, n uint32, need *uint32) error { return windows.QueryServiceConfig2(h, level, p, n, need) })
}

func startOf(h windows.Handle, kind uint32) node.Told[winsvc.Start] {
	switch kind {
	case windows.SERVICE_DEMAND_START:
		return node.Say(winsvc.StartManual)
	case windows.SERVICE_DISABLED:
		return node.Say(winsvc.StartDisabled)
	case windows.SERVICE_AUTO_START:
	default:
		return node.Unknown[winsvc.Start](fmt.Sprintf("start type %d", kind))
	}
	buf, err := query2(h, windows.SERVICE_CONFIG_DELAYED_AUTO_START_INFO)
	if unsupported(err) {
		// A manager that knows no delayed start delays none.
		return node.Say(winsvc.StartAutomatic)
	}
	if err != nil {
		return node.Unknown[winsvc.Start]("QueryServiceConfig2: " + err.Error())
	}
	if (*windows.SERVICE_DELAYED_AUTO_START_INFO)(unsafe.Pointer(&buf[0])).IsDelayedAutoStartUp != 0 {
		return node.Say(winsvc.StartDelayed)
	}
	return node.Say(winsvc.StartAutomatic)
}

func descriptionOf(h windows.Handle) node.Told[string] {
	buf, err := query2(h, windows.SERVICE_CONFIG_DESCRIPTION)
	if err != nil {
		return node.Unknown[string]("QueryServiceConfig2: " + err.Error())
	}
	return node.Say(windows.UTF16PtrToString((*windows.SERVICE_DESCRIPTION)(unsafe.Pointer(&buf[0])).Description))
}

var actionKinds = map[uint32]winsvc.ActionKind{
	windows.SC_ACTION_NONE: winsvc.ActionNone, windows.SC_ACTION_RESTART: winsvc.ActionRestart,
	windows.SC_ACTION_REBOOT: winsvc.ActionReboot, windows.SC_ACTION_RUN_COMMAND: winsvc.ActionRun,
}

func recoveryOf(h windows.Handle) node.Told[winsvc.Recovery] {
	buf, err := query2(h, windows.SERVICE_CONFIG_FAILURE_ACTIONS)
	if err != nil {
		return node.Unknown[winsvc.Recovery]("QueryServiceConfig2: " + err.Error())
	}
	a := (*windows.SERVICE_FAILURE_ACTIONS)(unsafe.Pointer(&buf[0]))
	r := winsvc.Recovery{Reset: time.Duration(a.ResetPeriod) * time.Second, Command: windows.UTF16PtrToString(a.Command)}
	if a.Actions != nil {
		for _, one := range unsafe.Slice(a.Actions, a.ActionsCount) {
			r.Actions = append(r.Actions, winsvc.Action{Kind: actionKinds[one.Type], Delay: time.Duration(one.Delay) * time.Millisecond})
		}
	}
	flag, err := query2(h, windows.SERVICE_CONFIG_FAILURE_ACTIONS_FLAG)
	if err != nil {
		return node.Unknown[winsvc.Recovery]("QueryServiceConfig2: " + err.Error())
	}
	r.OnNonCrash = (*windows.SERVICE_FAILURE_ACTIONS_FLAG)(unsafe.Pointer(&flag[0])).FailureActionsOnNonCrashFailures != 0
	return node.Say(r)
}

const servicesKey = `SYSTEM\CurrentControlSet\Services\`

func environmentOf(name string) node.Told[[]string] {
	k, err := registry.OpenKey(registry.LOCAL_MACHINE, servicesKey+name, registry.QUERY_VALUE)
	if err != nil {
		return node.Unknown[[]string]("its registry key: " + err.Error())
	}
	defer k.Close() //nolint:errcheck // only read
	env, _, err := k.GetStringsValue("Environment")
	if errors.Is(err, registry.ErrNotExist) {
		return node.Say([]string{})
	}
	return told(env, err)
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

type arguments struct {
	name, command, display, account *uint16
	dependencies                    *uint16
	start                           uint32
}

var startTypes = map[winsvc.Start]uint32{
	winsvc.StartAutomatic: windows.SERVICE_AUTO_START, winsvc.StartDelayed: windows.SERVICE_AUTO_START,
	winsvc.StartManual: windows.SERVICE_DEMAND_START, winsvc.StartDisabled: windows.SERVICE_DISABLED,
}

func argumentsOf(s Settings) (a arguments, err error) {
	a.start = windows.SERVICE_NO_CHANGE
	if start, ok := s.Start.Get(); ok {
		kind, known := startTypes[start]
		if !known {
			return a, fmt.Errorf("there is no start type %q", start)
		}
		a.start = kind
	}
	command, _ := s.Command.Get()
	display, _ := s.Display.Get()
	account, _ := s.Account.Get()
	for p, text := range map[**uint16]string{&a.name: s.Name, &a.command: command, &a.account: account, &a.display: display} {
		if text == "" {
			continue
		}
		if *p, err = windows.UTF16PtrFromString(text); err != nil {
			return a, err
		}
	}
	if dependencies, ok := s.Dependencies.Get(); ok {
		a.dependencies, err = joinBlock(dependencies)
	}
	return a, err
}

// configureMore sets what CreateService doesn't. What the manager doesn't have
// becomes a note.
func configureMore(h windows.Handle, s Settings) (notes []string, err error) {
	set := func(what string, fn func() error) {
		if serr := fn(); unsupported(serr) {
			notes = append(notes, fmt.Sprintf("the service manager has no %s: %v", what, serr))
		} else if serr != nil && err == nil {
			err = fmt.Errorf("set its %s: %w", what, serr)
		}
	}
	if description, ok := s.Description.Get(); ok {
		set("description", func() error { return setDescription(h, description) })
	}
	if start, ok := s.Start.Get(); ok && startTypes[start] == windows.SERVICE_AUTO_START {
		set("delayed start", func() error { return setDelayed(h, start == winsvc.StartDelayed) })
	}
	if recovery, ok := s.Recovery.Get(); ok {
		set("recovery actions", func() error { return setRecovery(h, recovery) })
	}
	if environment, ok := s.Environment.Get(); ok {
		set("environment", func() error { return setEnvironment(s.Name, environment) })
	}
	return notes, err
}

func setDescription(h windows.Handle, text string) error {
	p, err := windows.UTF16PtrFromString(text)
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

func setRecovery(h windows.Handle, r winsvc.Recovery) error {
	var actions []windows.SC_ACTION
	for _, a := range r.Actions {
		for kind, name := range actionKinds {
			if name == a.Kind {
				actions = append(actions, windows.SC_ACTION{Type: kind, Delay: uint32(a.Delay / time.Millisecond)}) //nolint:gosec // winsvc bounds it
			}
		}
	}
	command, err := windows.UTF16PtrFromString(r.Command)
	if err != nil {
		return err
	}
	// An empty list is one that is there: a nil pointer would leave the old one.
	actions = append(actions, windows.SC_ACTION{})
	a := windows.SERVICE_FAILURE_ACTIONS{
		ResetPeriod: uint32(r.Reset / time.Second), Command: command, ActionsCount: uint32(len(actions) - 1), Actions: &actions[0],
	}
	if err := windows.ChangeServiceConfig2(h, windows.SERVICE_CONFIG_FAILURE_ACTIONS, (*byte)(unsafe.Pointer(&a))); err != nil {
		return err
	}
	flag := windows.SERVICE_FAILURE_ACTIONS_FLAG{}
	if r.OnNonCrash {
		flag.FailureActionsOnNonCrashFailures = 1
	}
	return windows.ChangeServiceConfig2(h, windows.SERVICE_CONFIG_FAILURE_ACTIONS_FLAG, (*byte)(unsafe.Pointer(&flag)))
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
func joinBlock(texts []string) (*uint16, error) {
	for _, t := range texts {
		if strings.ContainsRune(t, 0) {
			return nil, syscall.EINVAL
		}
	}
	block := utf16.Encode([]rune(strings.Join(texts, "\x00") + "\x00\x00"))
	return &block[0], nil
}
