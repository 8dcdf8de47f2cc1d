// Package event carries progress from where work is done to what shows
// it. Packages emit events; package console alone turns them into text.
package event

// Phase is what is being done to a component or to the payload.
type Phase string

// The phases, in the order in which a payload passes through them.
const (
	Resolve Phase = "resolve" // pins into lock
	Fetch   Phase = "fetch"   // sources from the module proxy or git
	Check   Phase = "check"   // sources against their sums
	Compile Phase = "compile"
	Inspect Phase = "inspect" // the executable against its pin
	Pack    Phase = "pack"    // files into a layer
	Write   Phase = "write"   // image onto disk
	Push    Phase = "push"    // image to a registry
	Verify  Phase = "verify"
	Read    Phase = "read" // objects of a cluster, files of a base
)

// State is how far a phase has come.
type State string

// The states of a phase.
const (
	Start    State = "start"
	Progress State = "progress"
	Done     State = "done"
	Cached   State = "cached" // nothing to do: the result was known
	Failed   State = "failed"
	Note     State = "note" // something worth a line, whatever the phase
	Warning  State = "warning"
)

// Event is one step of work.
type Event struct {
	// Object is the component, file or reference that is worked on.
	Object string `json:"object,omitempty"`
	Phase  Phase  `json:"phase"`
	State  State  `json:"state"`
	// Done and Total count bytes (Fetch, Pack, Write, Push) or objects (Read); Total
	// is 0 where it isn't known.
	Done  int64 `json:"done,omitempty"`
	Total int64 `json:"total,omitempty"`
	// Message is for people, one line.
	Message string `json:"message,omitempty"`
}

// Sink takes events. Emit is called from many goroutines at once and must
// not block for long.
type Sink interface {
	Emit(Event)
}

// Func makes a function a Sink.
type Func func(Event)

// Emit calls f.
func (f Func) Emit(e Event) { f(e) }

// Discard is the Sink that drops everything.
var Discard Sink = Func(func(Event) {})
