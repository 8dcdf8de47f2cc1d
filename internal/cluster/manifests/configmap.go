package manifests

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// NamePrefix begins the name of every services ConfigMap; WMCO's full version
// follows.
const NamePrefix = "windows-services-"

// Namespace is where WMCO runs unless it is told otherwise.
const Namespace = "openshift-windows-machine-config-operator"

// WatchedVariables are those that WMCO's daemon takes back from a node when
// the cluster has no proxy any more (pkg/cluster/config.go).
func WatchedVariables() []string { return []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"} }

// ConfigMap is what the ConfigMap says. Keys and their order are those of
// pkg/servicescm/servicescm.go in
// https://github.com/openshift/windows-machine-config-operator.
type ConfigMap struct {
	Name, Namespace string
	Services        []ServiceEntry
	Files           []FileEntry
	// Watched is left out where it is nil: WMCO before 9.0.0 knows no such key
	// and refuses it.
	Watched []string
	// Environment is set on the whole node; nil for none.
	Environment map[string]string
}

// ServiceEntry is a service as WMCO has it. Its command stands under path.
type ServiceEntry struct {
	Name         string           `json:"name"`
	Command      string           `json:"path"`
	NodeArgs     []NodeArgEntry   `json:"nodeVariablesInCommand,omitempty"`
	PreScripts   []PreScriptEntry `json:"powershellPreScripts,omitempty"`
	Dependencies []string         `json:"dependencies,omitempty"`
	Bootstrap    bool             `json:"bootstrap"`
	Priority     uint             `json:"priority"`
}

// PreScriptEntry is a PowerShell command with its arguments. WMCO's type has
// no JSON name for NodeArgs, so it is written with a capital, and as null. nil is
// for WMCO before 10.18.0, which has no such key.
type PreScriptEntry struct {
	Variable string          `json:"variableName,omitempty"`
	Command  string          `json:"path"`
	NodeArgs *[]NodeArgEntry `json:"NodeArgs,omitempty"`
}

// NodeArgEntry is a name and the path into the Node object.
type NodeArgEntry struct {
	Name string `json:"name"`
	Path string `json:"nodeObjectJsonPath"`
}

// FileEntry is a file on the node with its sha256, in hex.
type FileEntry struct {
	Path     string `json:"path"`
	Checksum string `json:"checksum"`
}

// withScriptArgs is the first operator that replaces names in scripts.
var withScriptArgs = version.WMCO{Major: 10, Minor: 18}

// Entries turns services into those of an operator, in the order in which it
// sets them up. What its schema has no place for is an error and not left out in
// silence.
func Entries(operator version.WMCO, services []winsvc.Service) ([]ServiceEntry, error) {
	out := []ServiceEntry{}
	for _, s := range winsvc.Ordered(services) {
		if what := unsayable(operator, s); what != "" {
			return nil, &fault.Error{Where: "service " + s.Name, What: what, Fix: "take it out of versions.yaml, or set the node up with: bake manifests setup-script"}
		}
		e := ServiceEntry{
			Name: s.Name, Command: s.Command(), NodeArgs: nodeArgs(s.NodeArgs), Dependencies: s.Dependencies,
			Bootstrap: s.Bootstrap, Priority: s.Priority,
		}
		for _, p := range s.PreScripts {
			script := PreScriptEntry{Variable: p.Variable, Command: p.Command}
			if args := nodeArgs(p.NodeArgs); operator.Compare(withScriptArgs) >= 0 {
				script.NodeArgs = &args
			}
			e.PreScripts = append(e.PreScripts, script)
		}
		out = append(out, e)
	}
	return out, nil
}

func unsayable(operator version.WMCO, s winsvc.Service) string {
	namesInScripts := slices.ContainsFunc(s.PreScripts, func(p winsvc.PreScript) bool { return len(p.NodeArgs) > 0 })
	switch {
	case namesInScripts && operator.Compare(withScriptArgs) < 0:
		return fmt.Sprintf("WMCO %s replaces no names in a script; %s is the first that does", operator, withScriptArgs)
	case len(s.Environment) > 0:
		return "the ConfigMap has no place for a service's own environment"
	case !strings.EqualFold(s.AccountName(), winsvc.LocalSystem):
		return "WMCO runs every service as LocalSystem, not as " + s.Account
	case s.Start == winsvc.StartDisabled:
		return "WMCO starts every service, and this one is disabled"
	}
	return ""
}

func nodeArgs(args []winsvc.NodeArg) []NodeArgEntry {
	var out []NodeArgEntry
	for _, a := range args {
		out = append(out, NodeArgEntry(a))
	}
	return out
}

var (
	nameForm      = regexp.MustCompile(`^windows-services-[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)
	namespaceForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// YAML writes the ConfigMap as oc apply takes it. It is read back by WMCO's
// rules first: what WMCO would refuse isn't written.
func (c *ConfigMap) YAML() ([]byte, error) {
	if !nameForm.MatchString(c.Name) || len(c.Name) > 253 {
		return nil, &fault.Error{What: fmt.Sprintf("a services ConfigMap can't be called %q", c.Name), Fix: "pass the operator's full version, such as --wmco-version 10.20.1-1a2b3c4"}
	}
	if !namespaceForm.MatchString(c.Namespace) {
		return nil, &fault.Error{What: fmt.Sprintf("%q can't be a namespace", c.Namespace), Fix: "pass lower case letters, digits and dashes: --namespace " + Namespace}
	}
	data, err := c.data()
	if err != nil {
		return nil, err
	}
	if _, err := ParseData(data); err != nil {
		return nil, fmt.Errorf("WMCO would refuse this ConfigMap: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  namespace: %s\nimmutable: true\ndata:\n", c.Name, c.Namespace)
	for _, key := range []string{keyEnvironment, keyFiles, keyServices, keyWatched} {
		if value, has := data[key]; has {
			fmt.Fprintf(&b, "  %s: '%s'\n", key, strings.ReplaceAll(value, "'", "''"))
		}
	}
	return []byte(b.String()), nil
}

// data are the ConfigMap's values, byte for byte what WMCO marshals.
func (c *ConfigMap) data() (map[string]string, error) {
	files := c.Files
	if files == nil {
		files = []FileEntry{} // null isn't a list
	}
	values := map[string]any{keyServices: c.Services, keyFiles: files}
	if c.Watched != nil {
		values[keyWatched] = c.Watched
	}
	if len(c.Environment) > 0 {
		values[keyEnvironment] = c.Environment
	}
	data := map[string]string{}
	for key, value := range values {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", key, err)
		}
		data[key] = string(text)
	}
	return data, nil
}
