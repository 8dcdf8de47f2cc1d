package winedriver

import (
	"bytes"
	"regexp"
	"slices"
	"sync"
)

// log keeps what a program prints while it runs, and which of csi-proxy's pipes it
// has dialled or served by Wine's trace of files, which it leaves out.
type log struct {
	mu     sync.Mutex
	begun  []byte // a line that hasn't ended
	text   bytes.Buffer
	dialed []string
	served []string
}

var (
	// trace is a line of Wine's, 00f0:trace:file:CreateFileW L"...". What the program
	// prints at the same time can stand before it.
	trace = regexp.MustCompile(`[0-9a-f]{4}:trace:\w+:(\w+) (.*)`)
	pipe  = regexp.MustCompile(`csi-proxy-([a-z]+-v[0-9a-z]+)`)
)

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = append(l.begun, p...)
	for {
		end := bytes.IndexByte(l.begun, '\n')
		if end < 0 {
			return len(p), nil
		}
		l.line(l.begun[:end+1])
		l.begun = l.begun[end+1:]
	}
}

func (l *log) line(b []byte) {
	m := trace.FindSubmatchIndex(b)
	if m == nil {
		l.text.Write(b)
		return
	}
	l.text.Write(b[:m[0]])
	name := pipe.FindSubmatch(b[m[4]:m[5]])
	if name == nil {
		return
	}
	switch string(b[m[2]:m[3]]) {
	case "CreateFileW":
		l.dialed = append(l.dialed, string(name[1]))
	case "NtCreateNamedPipeFile":
		l.served = append(l.served, string(name[1]))
	}
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String() + string(l.begun)
}

// Dialed are the pipes of csi-proxy that the program has opened, sorted:
// filesystem-v1.
func (r *Running) Dialed() []string {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(r.log.dialed)))
}

// Served are the pipes that it has made, sorted.
func (r *Running) Served() []string {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(r.log.served)))
}

// What csi-proxy logs of a request, at -v=5: pkg/server/*/server.go of v1.1.3 and
// v1.3.0, internal/server/*/server.go of v0.2.2.
var asked = regexp.MustCompile(`(?m)^\S+ \S+ +\d+ server\.go:\d+\] (?:Request: (\w+)|(\w+): Request:|calling (\w+))`)

// Asked are the methods that a csi-proxy was asked for, each once, sorted.
func (r *Running) Asked() []string {
	var all []string
	for _, m := range asked.FindAllStringSubmatch(r.Log(), -1) {
		all = append(all, m[1]+m[2]+m[3])
	}
	slices.Sort(all)
	return slices.Compact(all)
}
