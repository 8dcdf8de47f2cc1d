package node

import "slices"

// Rule is one check of a node: its finding's ID, what it asks, why that
// matters, and what fixes it.
type Rule struct {
	ID, Title, Why, Remedy string
}

// install brings a node to what it should be.
const install = "verify.exe node install PAYLOAD"

// notAsked is why nothing is known of what the facts don't have.
const notAsked = "nobody asked the node for it"

// Rules are all checks, in the order of their IDs. IDs are frozen once
// released: --accept and dashboards hold them.
var Rules = []Rule{
	{ServiceAbsent, "the service is registered", "nothing serves its pipes, and pods that need them can't mount volumes", install},
	{ServiceCommand, "the service has the right command line",
		"another program runs, or this one with other flags: one that it doesn't know ends it at once", install},
	{ServiceStart, "the service starts when it should", "after a restart of the node it is down until somebody starts it", install},
	{ServiceRecovery, "the service is started again when it dies", "a crash leaves the node without it until somebody starts it", install},
	{ServiceRunning, "the service runs, and its process lives", "nothing serves its pipes, and pods that need them can't mount volumes", install},
	{SecondOwner, "no other service serves the same pipes",
		"whichever of the two starts later ends at once, since the first instance of a pipe is exclusive", "stop and disable the other service"},
	{FileDiffers, "the file has the payload's bytes", "the node runs something else than what was baked and checked", install},
	{FileMissing, "the file is there", "what starts it fails", install},
	{LogDirectory, "the log directory is there", "the program doesn't make it and ends when it can't open its log", install},
	{PipeMissing, "the pipe is there", "drivers that dial it fail", install},
	{PipeOwner, "the pipe is served by the service's process", "another program answers the drivers, with whatever rights and version it has", install},
	{PipeAnswer, "the pipe answers", "drivers that call it fail or hang", install},
	{LogVersion, "the running program is the pinned version", "the node runs another version than the one that was baked and checked", install},
	{ServiceAccount, "the service runs under the right account", "with fewer rights its calls fail, with more a pod that reaches it has them", install},
	{ServiceDependencies, "the service depends on the right services", "it may start before what it needs", install},
	{NodeInterrupted, "no change of the node was cut short", "files and services may be half of one payload and half of another",
		"run the same command again: it ends what was begun"},
	{ServiceEnvironment, "the service's process gets the right variables",
		"the program runs with other settings than those that were baked and checked", install},
}

// The IDs of Rules.
const (
	ServiceAbsent       = "WIN001"
	ServiceCommand      = "WIN002"
	ServiceStart        = "WIN003"
	ServiceRecovery     = "WIN004"
	ServiceRunning      = "WIN005"
	SecondOwner         = "WIN006"
	FileDiffers         = "WIN007"
	FileMissing         = "WIN008"
	LogDirectory        = "WIN009"
	PipeMissing         = "WIN010"
	PipeOwner           = "WIN011"
	PipeAnswer          = "WIN012"
	LogVersion          = "WIN013"
	ServiceAccount      = "WIN014"
	ServiceDependencies = "WIN015"
	NodeInterrupted     = "WIN016"
	ServiceEnvironment  = "WIN017"
)

func rule(id string) Rule {
	return Rules[slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })]
}
