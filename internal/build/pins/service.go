package pins

import (
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// Service is a Windows service as versions.yaml has it. One called csi-proxy
// needs a name and a component only: every key that is left out is WMCO's own
// (winsvc.CSIProxy).
type Service struct {
	Name         string             `json:"name" jsonschema:"required,pattern=^[A-Za-z0-9][A-Za-z0-9._-]*$" jsonschema_description:"The service's name on the node."`
	Component    string             `json:"component,omitempty" jsonschema_description:"The component whose file it runs, at its install path."`
	Path         string             `json:"path,omitempty" jsonschema_description:"In place of component: a program that something else brings, such as C:\\k\\x.exe."`
	Args         []string           `json:"args,omitempty" jsonschema_description:"The program's arguments, one each, unquoted."`
	Display      string             `json:"display,omitempty" jsonschema_description:"Name for people. Default: the name."`
	Description  string             `json:"description,omitempty" jsonschema_description:"One line for people."`
	Dependencies []string           `json:"dependencies,omitempty" jsonschema_description:"Services that are started before it."`
	Start        string             `json:"start,omitempty" jsonschema:"enum=automatic,enum=delayed,enum=manual,enum=disabled" jsonschema_description:"When Windows starts it, on a node without WMCO. Default: automatic."`
	Account      string             `json:"account,omitempty" jsonschema_description:"What it runs as, without a password. Default: LocalSystem."`
	Bootstrap    bool               `json:"bootstrap,omitempty" jsonschema_description:"WMCO sets it up before there is a Node object."`
	Priority     uint               `json:"priority,omitempty" jsonschema:"minimum=0" jsonschema_description:"WMCO's order: lower numbers first, bootstrap services before all others. Default: 0."`
	Recovery     *Recovery          `json:"recovery,omitempty" jsonschema_description:"What Windows does when it ends unasked, on a node without WMCO."`
	LogDirectory string             `json:"logDirectory,omitempty" jsonschema_description:"Folder of its log, made before it is started."`
	Environment  map[string]string  `json:"environment,omitempty" jsonschema_description:"Variables of its process. WMCO has no such thing."`
	PreScripts   []winsvc.PreScript `json:"preScripts,omitempty" jsonschema_description:"PowerShell that WMCO runs before it starts the service."`
	NodeArgs     []winsvc.NodeArg   `json:"nodeArgs,omitempty" jsonschema_description:"Names in args that WMCO replaces with values of the Node object."`
	WMCOOnly     bool               `json:"wmcoOnly,omitempty" jsonschema_description:"Only WMCO can set it up: it needs files that the operator writes."`

	// Definition is the service with everything filled in.
	Definition winsvc.Service `json:"-"`

	places
}

// Recovery is what Windows does when a service ends unasked.
type Recovery struct {
	Reset      string   `json:"reset,omitempty" jsonschema_description:"How long it must run until its failures are forgotten, such as 24h. Default: forgotten at once."`
	Actions    []string `json:"actions" jsonschema:"required,minItems=1" jsonschema_description:"After the first failure, the second, and so on: restart/10s, run/10s, reboot/1m or none/0s."`
	Command    string   `json:"command,omitempty" jsonschema_description:"What run starts."`
	OnNonCrash bool     `json:"onNonCrash,omitempty" jsonschema_description:"Also when it stops by itself with an error."`
}
