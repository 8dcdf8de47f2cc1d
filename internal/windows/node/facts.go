package node

import "github.com/winbake/winbake/internal/windows/winsvc"

// Told is a value that a node may not tell. Its zero value is one that wasn't
// told, so what nobody asked for never counts as an answer. Value is zero then.
type Told[T any] struct {
	Value T    `json:"value,omitempty"`
	Known bool `json:"known"`
	// Unknown says why a value isn't known.
	Unknown string `json:"unknown,omitempty"`
}

// Say makes a value that was told.
func Say[T any](v T) Told[T] { return Told[T]{Value: v, Known: true} }

// Unknown makes a value that wasn't told, for a reason that a person reads.
func Unknown[T any](reason string) Told[T] { return Told[T]{Unknown: reason} }

// Get returns the value, and whether it was told.
func (t Told[T]) Get() (T, bool) { return t.Value, t.Known }

// Reason says why a value wasn't told, "" for one that was.
func (t Told[T]) Reason() string {
	if !t.Known && t.Unknown == "" {
		return notAsked
	}
	return t.Unknown
}

// Facts are what a node says of itself.
type Facts struct {
	Host string `json:"host,omitempty"`
	OS   string `json:"os,omitempty"`
	// Managed tells whether WMCO manages the node: its daemon's service is there.
	Managed  Told[bool]     `json:"managed"`
	Services []ServiceFacts `json:"services"`
	Files    []FileFacts    `json:"files"`
	Pipes    []PipeFacts    `json:"pipes"`
	// Interrupted names a change that was begun and not ended; "" for none.
	Interrupted string `json:"interrupted,omitempty"`
}

// ServiceFacts are what the service manager and the system tell of a service.
type ServiceFacts struct {
	Name   string     `json:"name"`
	Exists Told[bool] `json:"exists"`
	// State is running, stopped, start-pending and so on.
	State Told[string] `json:"state"`
	// PID is of the process that the manager names; 0 for none.
	PID Told[uint32] `json:"pid"`
	// Alive tells whether that process is there: a manager may say running of
	// a service whose process was killed.
	Alive bool `json:"alive"`
	Configuration
	// LogDirectory tells whether the directory is there; LogVersion is what
	// the running program wrote into its log.
	LogDirectory Told[bool]   `json:"logDirectory"`
	LogVersion   Told[string] `json:"logVersion"`
	// Rivals are services of other names that start the same program, and would
	// serve the same pipes.
	Rivals Told[[]*Registered] `json:"rivals"`
}

// Configuration is what the service manager has of a service, or is told of it:
// then what isn't said is left as it is.
type Configuration struct {
	Command      Told[string]       `json:"command"`
	Display      Told[string]       `json:"display"`
	Description  Told[string]       `json:"description"`
	Start        Told[winsvc.Start] `json:"start"`
	Account      Told[string]       `json:"account"` // taken at creation alone
	Dependencies Told[[]string]     `json:"dependencies"`
	// Environment are the variables that its process gets in addition to the system's,
	// NAME=value.
	Environment Told[[]string]        `json:"environment"`
	Recovery    Told[winsvc.Recovery] `json:"recovery"`
}

// Registered is a service that the service manager knows.
type Registered struct {
	Name  string `json:"name"`
	State string `json:"state"`
	PID   uint32 `json:"pid"`
	// Alive tells whether its process is there: a manager may say running of one
	// that was killed.
	Alive bool `json:"alive"`
	Configuration
}

// FileFacts are what is at a file's place.
type FileFacts struct {
	Path   string       `json:"path"`
	Exists Told[bool]   `json:"exists"`
	SHA256 Told[string] `json:"sha256"`
	Size   int64        `json:"size,omitempty"`
}

// PipeFacts are what a named pipe tells.
type PipeFacts struct {
	Name   string     `json:"name"`
	Exists Told[bool] `json:"exists"`
	// PID and Image are of the process that serves it; "" for a program that isn't
	// told.
	PID   Told[uint32] `json:"pid"`
	Image string       `json:"image,omitempty"`
	// Answer is what the server said to a harmless call; "ok" is the one
	// good answer.
	Answer Told[string] `json:"answer"`
}

// AnswerOK is the Answer of a pipe whose server speaks the group's protocol.
const AnswerOK = "ok"
