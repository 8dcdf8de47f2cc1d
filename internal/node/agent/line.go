package agent

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/node"
)

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
