package source

import (
	"github.com/winbake/winbake/internal/base/event"
	"github.com/winbake/winbake/internal/build/gotool"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/build/source/gitsrc"
)

// Env is what the kinds of components work with.
type Env struct {
	Host   *gotool.Host
	Git    *gitsrc.Cache
	Events event.Sink
	// Lock is what is locked now. Only locking needs it.
	Lock *pins.Lock
}

// Pin is a component, the file that it is in, and its lock. Locked is nil
// while it is made.
type Pin struct {
	File *pins.File
	*pins.Component
	Locked *pins.Locked
}

// LockCommand locks the component again.
func (p Pin) LockCommand() string { return pins.LockCommand(p.File, p.Name) }

// Result is one component's lock: its entry in lock.yaml, and the go.mod and
// go.sum beside it. The files are nil where a build doesn't need them.
type Result struct {
	Locked       *pins.Locked
	GoMod, GoSum []byte
	// Texts are the licence texts that Locked names.
	Texts pins.LicenseTexts
}

// NoVersions is why nobody can say which versions are newer than a pin.
type NoVersions string

func (e NoVersions) Error() string { return string(e) }
