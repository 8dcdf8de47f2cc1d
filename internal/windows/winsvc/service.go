// Package winsvc is the definition of a Windows service and the rules that it
// must keep: what `services:` in versions.yaml says, and what a ConfigMap
// entry, an sc.exe script and a node's service manager are compared with.
//
// It isn't for doing anything to a service: package manifests writes
// definitions out, package node carries them out. It reads no file, starts
// nothing and knows no release of any program; what a csi-proxy accepts is
// handed to it.
package winsvc

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Service is one Windows service.
type Service struct {
	// Name is the service manager's key, csi-proxy. The service manager
	// doesn't tell upper case from lower.
	Name string `json:"name"`
	// Display is shown to people; "" means Name.
	Display string `json:"display,omitempty"`
	// Description is shown to people. WMCO writes "OpenShift managed NAME"
	// over it, and deletes services whose description says so.
	Description string `json:"description,omitempty"`
	// Component is the component of versions.yaml that brings the program; ""
	// where something else does.
	Component string `json:"component,omitempty"`
	// Path is the program on the node, absolute: C:\k\csi-proxy.exe.
	Path string `json:"path"`
	// Arguments are the program's, one each, unquoted.
	Arguments []string `json:"arguments,omitempty"`
	// Dependencies are names of services that are started before it.
	Dependencies []string `json:"dependencies,omitempty"`
	// Start says when Windows starts it.
	Start Start `json:"start"`
	// Account is what it runs as; "" means LocalSystem.
	Account string `json:"account,omitempty"`
	// Bootstrap and Priority are WMCO's: bootstrap services are set up before
	// there is a Node object, and lower priorities before higher ones.
	Bootstrap bool `json:"bootstrap,omitempty"`
	Priority  uint `json:"priority"`
	// Recovery is what the service manager does when the process ends
	// unasked. WMCO sets none.
	Recovery Recovery `json:"recovery,omitzero"`
	// LogDirectory is made before the service is started: klog makes none.
	LogDirectory string `json:"logDirectory,omitempty"`
	// Environment is added to that of the process. WMCO has no such thing.
	Environment map[string]string `json:"environment,omitempty"`
	// PreScripts are PowerShell commands that WMCO's daemon runs before it
	// starts the service.
	PreScripts []PreScript `json:"preScripts,omitempty"`
	// NodeArgs are names in Arguments that WMCO's daemon replaces with values
	// of the Node object.
	NodeArgs []NodeArg `json:"nodeArgs,omitempty"`
	// WMCOOnly marks a service that only WMCO can set up: what it needs (a
	// certificate, a kubeconfig) is written by the operator.
	WMCOOnly bool `json:"wmcoOnly,omitempty"`
	// Pipes are the named pipes that it serves while it runs, in full:
	// \\.\pipe\csi-proxy-disk-v1.
	Pipes []string `json:"pipes,omitempty"`
}

// PreScript is a PowerShell command that must succeed before the service is
// started. Its descriptions are those of versions.yaml's schema.
type PreScript struct {
	Variable string    `json:"variable,omitempty" jsonschema_description:"Name in args that is replaced with what it prints."`
	Command  string    `json:"command" jsonschema:"required" jsonschema_description:"A script with its arguments, or an expression."`
	NodeArgs []NodeArg `json:"nodeArgs,omitempty" jsonschema_description:"Names in command that WMCO replaces with values of the Node object."`
}

// NodeArg is a name in a command, and the JSON path into the Node object
// whose value replaces it.
type NodeArg struct {
	Name string `json:"name" jsonschema:"required" jsonschema_description:"Upper case letters, digits and underscores."`
	Path string `json:"path" jsonschema:"required" jsonschema_description:"JSON path in the Node object, such as {.metadata.name}; other text stands for itself."`
}

// Start says when Windows starts a service.
type Start string

// The start types, as people call them.
const (
	StartManual    Start = "manual"
	StartAutomatic Start = "automatic"
	StartDelayed   Start = "delayed" // automatic, some minutes after the others
	StartDisabled  Start = "disabled"
)

// Starts lists them.
func Starts() []Start { return []Start{StartAutomatic, StartDelayed, StartManual, StartDisabled} }

// LocalSystem is the account of a service that names none.
const LocalSystem = "LocalSystem"

// AccountName is Account, or LocalSystem.
func (s Service) AccountName() string { return cmp.Or(s.Account, LocalSystem) }

// DisplayName is Display, or Name.
func (s Service) DisplayName() string { return cmp.Or(s.Display, s.Name) }

// Standalone reports whether the service can be set up on a node without
// WMCO: its command line has no gaps that only WMCO's daemon can fill.
func (s Service) Standalone() bool {
	return !s.WMCOOnly && len(s.NodeArgs) == 0 && len(s.PreScripts) == 0
}

// IsCSIProxy reports whether the service runs csi-proxy, whatever it's called.
func (s Service) IsCSIProxy() bool {
	base := s.Path[strings.LastIndexAny(s.Path, `\/`)+1:]
	return strings.EqualFold(base, "csi-proxy.exe") || slices.ContainsFunc(s.Pipes, func(pipe string) bool { return strings.HasPrefix(strings.ToLower(pipe), PipePrefix) })
}

// PipePrefix begins the name of every pipe of csi-proxy
// (https://github.com/kubernetes-csi/csi-proxy/blob/master/client/utils.go).
const PipePrefix = `\\.\pipe\csi-proxy-`

// CSIProxyName is the service's name on a node that WMCO manages. Upstream's
// documentation calls it csiproxy; two of them fight for the pipes.
const CSIProxyName = "csi-proxy"

// WICDName is the service of WMCO's daemon on the node. Where it exists, WMCO
// decides over all the services that it knows.
const WICDName = "windows-instance-config-daemon"

// CSIProxy is csi-proxy as WMCO sets it up: its name, program, command line,
// priority and log directory (pkg/services/services.go and
// pkg/windows/windows.go of
// https://github.com/openshift/windows-machine-config-operator, the same from
// 7.2.0 to 11.0). Start type and recovery are ours, for nodes without WMCO,
// which starts it by hand and has its daemon look after it.
//
// groups are those that the release serves, disk-v1; they become pipes.
func CSIProxy(groups ...string) Service {
	s := Service{
		Name:        CSIProxyName,
		Display:     "CSI Proxy",
		Description: "Storage operations on this node for CSI drivers in containers",
		Component:   "csi-proxy",
		Path:        `C:\k\csi-proxy.exe`,
		Arguments: []string{
			`-log_file=C:\var\log\csi-proxy\csi-proxy.log`, "-logtostderr=false", "-windows-service", "--v=2",
		},
		Start:        StartAutomatic,
		Priority:     2,
		LogDirectory: `C:\var\log\csi-proxy`,
		Recovery: Recovery{
			Reset:      24 * time.Hour,
			OnNonCrash: true,
			Actions: []Action{
				{Kind: ActionRestart, Delay: 10 * time.Second},
				{Kind: ActionRestart, Delay: 30 * time.Second},
				{Kind: ActionRestart, Delay: 60 * time.Second},
			},
		},
	}
	for _, g := range groups {
		s.Pipes = append(s.Pipes, PipePrefix+g)
	}
	return s
}
