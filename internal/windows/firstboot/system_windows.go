package firstboot

import (
	"errors"
	"fmt"

	"golang.org/x/sys/windows/registry"
	"golang.org/x/sys/windows/svc/eventlog"
)

// Source is what the events are from, in the log Application.
const Source = "winbake"

// Windows is the machine itself.
type Windows struct{}

var _ System = Windows{}

// Local is this machine.
func Local() (System, error) { return Windows{}, nil }

// Where Windows says what Setup is at
// (https://learn.microsoft.com/windows-hardware/manufacture/desktop/windows-setup-states).
const (
	stateKey = `SOFTWARE\Microsoft\Windows\CurrentVersion\Setup\State`
	setupKey = `SYSTEM\Setup`
	complete = "IMAGE_STATE_COMPLETE"
)

// Setup is System's. The image's state is COMPLETE from the end of the last
// pass on; in the passes before, the machine is still being set up.
func (Windows) Setup() (done bool, state string, err error) {
	state, err = value(stateKey, "ImageState", func(k registry.Key, name string) (string, uint32, error) { return k.GetStringValue(name) })
	if err != nil {
		return false, "", err
	}
	busy, err := value(setupKey, "SystemSetupInProgress", func(k registry.Key, name string) (uint64, uint32, error) { return k.GetIntegerValue(name) })
	if err != nil {
		return false, "", err
	}
	if busy != 0 {
		state += ", in progress"
	}
	return state == complete, state, nil
}

func value[T any](path, name string, get func(registry.Key, string) (T, uint32, error)) (v T, err error) {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, path, registry.QUERY_VALUE)
	if err == nil {
		v, _, err = get(key, name)
		err = errors.Join(err, key.Close())
	}
	if err != nil {
		err = fmt.Errorf(`read HKLM\%s\%s: %w`, path, name, err)
	}
	return v, err
}

// Log is System's. The source is registered with Windows' own EventCreate.exe
// for its texts, so that viewers show them without a file of ours.
func (Windows) Log(level Level, id uint32, text string) error {
	if err := register(); err != nil {
		return err
	}
	log, err := eventlog.Open(Source)
	if err != nil {
		return fmt.Errorf("open the event log: %w", err)
	}
	write := log.Info
	switch level {
	case Warning:
		write = log.Warning
	case Error:
		write = log.Error
	case Information:
	}
	if err := errors.Join(write(id, text), log.Close()); err != nil {
		return fmt.Errorf("write into the event log: %w", err)
	}
	return nil
}

// register makes the source known, once.
func register() error {
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SYSTEM\CurrentControlSet\Services\EventLog\Application\`+Source, registry.QUERY_VALUE)
	if err == nil {
		return key.Close()
	}
	if err := eventlog.InstallAsEventCreate(Source, eventlog.Error|eventlog.Warning|eventlog.Info); err != nil {
		return fmt.Errorf("register the source %s of the event log: %w", Source, err)
	}
	return nil
}
