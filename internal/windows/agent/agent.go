// Package agent is what verify.exe does on a Windows node: it gathers facts,
// and it carries out one change of files and services as a whole.
//
// Everything that asks Windows stands behind [System], whose real one is in
// the *_windows.go files. It has no network of its own but named pipes, no
// registry and no Kubernetes client: what is to be on the node is given to it
// (package node), what was uploaded is in a folder.
package agent

import (
	"context"
	"errors"
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
	// Create and Configure make the service what s says. What the manager
	// doesn't take is in the notes, one sentence each. Settings of nothing but
	// a name change nothing, and tell whether anything can be changed: ErrMarked
	// says that it can't.
	Create(s Settings) (notes []string, err error)
	Configure(s Settings) (notes []string, err error)
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
	// Free is how many bytes may be written into dir or, where that doesn't
	// exist, into the folder above.
	Free(dir string) (uint64, error)
	// ReadOnly tells whether a file has the read-only attribute.
	ReadOnly(path string) bool
}

// ErrMarked says that a service is marked for deletion: it goes when the last
// program that holds it open lets go of it.
var ErrMarked = errors.New("the service is marked for deletion")

// Service is what the service manager tells of a service.
type Service struct {
	Name, State string
	PID         uint32
	node.Configuration
}

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

// Dirs are the folders of the agent's own.
type Dirs struct {
	// State holds the journal and the record of what was installed. Only
	// administrators may write there.
	State string
	// Stage is where the files of a change were uploaded to.
	Stage string
}

// Times bound how long things on the node may take.
type Times struct {
	// Stop is how long a service's process may take to end by itself, Start
	// how long its pipes may take to answer.
	Stop, Start time.Duration
}

// DefaultTimes are for a node that isn't overloaded.
var DefaultTimes = Times{Stop: 20 * time.Second, Start: 60 * time.Second}
