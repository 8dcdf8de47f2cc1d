package agent

import "github.com/winbake/winbake/internal/node"

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
