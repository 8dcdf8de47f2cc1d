package node

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Protocol is what the Linux side and verify.exe agree on: the fields of Facts
// and the arguments of the agent's commands. It is raised when one of them
// changes its meaning.
const Protocol = 1

// Told is a value that a node may not tell. Its zero value is one that wasn't
// told, so what nobody asked for never counts as an answer.
type Told[T any] struct {
	value  T
	told   bool
	reason string
}

// Say makes a value that was told.
func Say[T any](v T) Told[T] { return Told[T]{value: v, told: true} }

// Unknown makes a value that wasn't told, for a reason that a person reads.
func Unknown[T any](reason string) Told[T] { return Told[T]{reason: reason} }

// Get returns the value, and whether it was told.
func (t Told[T]) Get() (T, bool) { return t.value, t.told }

// Reason says why a value wasn't told.
func (t Told[T]) Reason() string {
	switch {
	case t.told:
		return ""
	case t.reason == "":
		return "nobody asked the node for it"
	}
	return t.reason
}

type toldJSON struct {
	Value   json.RawMessage `json:"value,omitempty"`
	Unknown string          `json:"unknown,omitempty"`
}

// MarshalJSON writes {"value": ...} or {"unknown": "why"}.
func (t Told[T]) MarshalJSON() ([]byte, error) {
	if !t.told {
		return json.Marshal(toldJSON{Unknown: t.Reason()})
	}
	value, err := json.Marshal(t.value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(toldJSON{Value: value})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Told[T]) UnmarshalJSON(data []byte) error {
	var j toldJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*t = Told[T]{reason: j.Unknown}
	if j.Value == nil {
		return nil
	}
	t.told = true
	return json.Unmarshal(j.Value, &t.value)
}

// Facts are what a node says of itself.
type Facts struct {
	Protocol int `json:"protocol"`
	// Verify is the version of the verify.exe that asked.
	Verify string `json:"verify"`
	Host   string `json:"host,omitempty"`
	OS     string `json:"os,omitempty"`
	// Administrator tells whether verify.exe may change services.
	Administrator Told[bool] `json:"administrator"`
	// Managed tells whether WMCO manages the node: its daemon's service is there.
	Managed  Told[bool]     `json:"managed"`
	Services []ServiceFacts `json:"services"`
	Files    []FileFacts    `json:"files"`
	Pipes    []PipeFacts    `json:"pipes"`
	// Staged are the names of whole uploads.
	Staged []string `json:"staged,omitempty"`
	// Interrupted names a change that was begun and not ended; "" for none.
	Interrupted string `json:"interrupted,omitempty"`
	// Installed is the reference that was installed last; "" for none.
	Installed string `json:"installed,omitempty"`
}

// Cover tells whether all that e asks for was asked. What lies on the node may
// have been changed since it was brought there, the expectation too.
func (f *Facts) Cover(e *Expectation) bool {
	for _, want := range e.Files {
		if !slices.ContainsFunc(f.Files, func(g FileFacts) bool { return SamePath(g.Path, want.Path) }) {
			return false
		}
	}
	for _, s := range e.Services {
		if !slices.ContainsFunc(f.Services, func(g ServiceFacts) bool { return strings.EqualFold(g.Name, s.Name) }) {
			return false
		}
		for _, name := range s.Pipes {
			if !slices.ContainsFunc(f.Pipes, func(p PipeFacts) bool { return strings.EqualFold(p.Name, name) }) {
				return false
			}
		}
	}
	return true
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
	Alive Told[bool] `json:"alive"`
	Configuration
	// LogDirectory tells whether the directory is there; LogVersion is what
	// the running program wrote into its log.
	LogDirectory Told[bool]   `json:"logDirectory"`
	LogVersion   Told[string] `json:"logVersion"`
	// Rivals are services of other names that start the same program.
	Rivals Told[[]Rival] `json:"rivals"`
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

// Rival is a service that would serve the same pipes under another name.
type Rival struct {
	Name    string             `json:"name"`
	Command string             `json:"command"`
	State   string             `json:"state"`
	Start   Told[winsvc.Start] `json:"start"`
	PID     Told[uint32]       `json:"pid"`
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
	// PID and Image are of the process that serves it.
	PID   Told[uint32] `json:"pid"`
	Image Told[string] `json:"image"`
	// Answer is what the server said to a harmless call; "ok" is the one
	// good answer.
	Answer Told[string] `json:"answer"`
}

// AnswerOK is the Answer of a pipe whose server speaks the group's protocol.
const AnswerOK = "ok"
