// Package agent is what verify.exe does on a Windows node: it gathers facts,
// and it carries out one change of files and services as a whole.
//
// Everything that asks Windows is behind [System], whose real one is in the
// *_windows.go files. It has no network of its own but named pipes: what is to
// be on the node, and the files for it, are given to it.
package agent

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/winbake/winbake/internal/windows/node"
)

// System is the node that the agent runs on.
type System interface {
	// Describe names the host and its Windows version, "" where it can't.
	Describe() (host, os string)
	// Administrator tells whether this process may change services.
	Administrator() (bool, error)
	// Service returns what the service manager tells of a service; nil for
	// one that doesn't exist.
	Service(name string) (*Service, error)
	// Services returns all services that are programs.
	Services() ([]*Service, error)
	// Dependents returns the services that run and depend on one, in the order
	// in which they must be stopped.
	Dependents(name string) ([]string, error)
	// Set makes the service, or changes it to, what s says. What the manager
	// doesn't take is in the notes, one sentence each. Settings of nothing but
	// a name change nothing, and tell whether anything can be changed: ErrMarked
	// says that it can't.
	Set(s Settings) (notes []string, err error)
	// Delete removes a service that is stopped, and returns when its name is
	// free. ErrMarked says that something still holds it.
	Delete(ctx context.Context, name string) error
	Start(name string) error
	// Stop asks the service to stop, without waiting.
	Stop(name string) error
	// Processes lists what runs. Image is "" where it isn't told.
	Processes() ([]Process, error)
	// End ends a process, if it is still the one that runs image.
	End(p Process) error
	// Pipe asks who serves a pipe, and its server something harmless.
	Pipe(ctx context.Context, name string) node.PipeFacts
}

// ErrMarked says that a service is marked for deletion: it goes when the last
// program that holds it open lets go of it.
var ErrMarked = errors.New("the service is marked for deletion")

// Service is what the service manager tells of a service.
type Service = node.Registered

// runs tells whether it runs and its process lives.
func runs(s *Service) bool { return s.State != node.StateStopped && s.Alive }

// Process is a program that runs.
type Process struct {
	PID   uint32
	Image string // its executable's full path
}

// Settings are what the service manager is told.
type Settings struct {
	Name string `json:"name"`
	node.Configuration
}

// Files are the files of a payload.
type Files interface {
	// Each calls take with each of the files, in whatever order.
	Each(ctx context.Context, files []node.File, take func(f node.File, content io.Reader) error) error
}

// Request is one change of a node.
type Request struct {
	// Reference is the payload, for the record.
	Reference string
	// Expectation is what the node should be, and Files has the files for it; nil
	// removes what was installed.
	Expectation *node.Expectation
	Files       Files
	// Stop is how long a service's process may take to end by itself, Start
	// how long its pipes may take to answer.
	Stop, Start time.Duration
	// Say is told what is being done, one sentence at a time.
	Say func(string)
}

// DefaultStop and DefaultStart are for a node that isn't overloaded.
const (
	DefaultStop  = 20 * time.Second
	DefaultStart = 60 * time.Second
)

// Result is what came of a request.
type Result struct {
	// Changed tells whether anything was.
	Changed bool `json:"changed"`
	// Recovered says what was put back or ended of a change that was cut
	// short; "" for none.
	Recovered string `json:"recovered,omitempty"`
	// Installed, Replaced and Removed count files.
	Installed int `json:"installed"`
	Replaced  int `json:"replaced"`
	Removed   int `json:"removed"`
	// Services are those that were started, stopped, made or removed.
	Services []string `json:"services,omitempty"`
	// Notes are what a person should know, one sentence each.
	Notes []string `json:"notes,omitempty"`
}
