package agent

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
)

// Verb is what is asked of a node.
type Verb string

// The verbs.
const (
	// Install makes files and services what they should be. It replaces no
	// program of a service that is there.
	Install Verb = "install"
	// Upgrade does that too, for services that are there.
	Upgrade Verb = "upgrade"
	// Settle does both: it makes services that aren't there, and replaces the
	// programs of those that are. It is for a machine that an image is made of.
	Settle Verb = "settle"
	// Remove takes away what was installed.
	Remove Verb = "remove"
)

// Request is one change of a node.
type Request struct {
	Protocol int  `json:"protocol"`
	Verb     Verb `json:"verb"`
	// Reference is the image by digest, for the record.
	Reference string `json:"reference,omitempty"`
	// Expectation is what the node should be; nil for Remove, which goes by
	// the record.
	Expectation *node.Expectation `json:"expectation,omitempty"`
	// Managed allows a node that WMCO manages.
	Managed bool  `json:"managed,omitempty"`
	Times   Times `json:"times"`
}

// Result is what came of a request.
type Result struct {
	// Changed tells whether anything was.
	Changed bool `json:"changed"`
	// Recovered says what was put back or ended of a change that was cut
	// short; "" for none.
	Recovered string `json:"recovered,omitempty"`
	// Replaced, Installed and Removed count files.
	Replaced  int `json:"replaced"`
	Installed int `json:"installed"`
	Removed   int `json:"removed"`
	// Services are those that were started, stopped, made or removed.
	Services []string `json:"services,omitempty"`
	// Notes are what a person should know, one sentence each.
	Notes []string `json:"notes,omitempty"`
}

// Line is one line of what verify.exe writes for bake and verify: JSON with
// one field set. The last line is Facts, Result or Fault.
type Line struct {
	Say    string      `json:"say,omitempty"`
	Facts  *node.Facts `json:"facts,omitempty"`
	Result *Result     `json:"result,omitempty"`
	Fault  *Fault      `json:"fault,omitempty"`
}

// Fault is a fault.Error on its way.
type Fault struct {
	What    string `json:"what"`
	Where   string `json:"where,omitempty"`
	Excerpt string `json:"excerpt,omitempty"`
	Fix     string `json:"fix,omitempty"`
	Code    int    `json:"code,omitempty"`
}

// FaultOf makes any error one that can be sent.
func FaultOf(err error) *Fault {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return &Fault{f.What, f.Where, f.Excerpt, f.Fix, f.Code}
	}
	return &Fault{What: err.Error()}
}

// Error makes it an error again.
func (f *Fault) Error() error {
	return &fault.Error{What: f.What, Where: f.Where, Excerpt: f.Excerpt, Fix: f.Fix, Code: f.Code}
}

// WriteLine writes one line. That nobody reads any more is no reason to stop
// a change half-way, so its error is dropped.
func WriteLine(w io.Writer, l Line) {
	data, err := json.Marshal(l)
	if err != nil {
		data, _ = json.Marshal(Line{Fault: &Fault{What: "encode the answer: " + err.Error()}})
	}
	_, _ = w.Write(append(data, '\n'))
}
