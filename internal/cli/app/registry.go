package app

import (
	"errors"
	"time"

	"github.com/spf13/pflag"

	"github.com/winbake/winbake/internal/event"
	"github.com/winbake/winbake/internal/fault"
)

// Registry is the flags of commands that reach a registry.
type Registry struct {
	Insecure bool
	Timeout  time.Duration // 0: the default
}

// Register adds them to f; whose is the registry's name in their help.
func (r *Registry) Register(f *pflag.FlagSet, whose string) {
	f.BoolVar(&r.Insecure, "plain-http", false, "talk plain http to "+whose)
	f.DurationVar(&r.Timeout, "registry-timeout", 0, "how long "+whose+" may be silent, or slower than 1 KiB a second (default 2m)")
}

// Retrying tells of a failure that is tried again.
func (a *App) Retrying(err error) {
	e := event.Event{Phase: event.Read, State: event.Warning, Message: err.Error()}
	if f, ok := errors.AsType[*fault.Error](err); ok {
		e.Object, e.Message = f.Where, f.What
	}
	e.Message += "; trying again"
	a.Console.Emit(e)
}
