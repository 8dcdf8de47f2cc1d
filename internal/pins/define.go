package pins

import (
	"fmt"
	"time"

	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/winsvc"
)

// services fills in what each service leaves out and checks them all.
func (v *validator) services() {
	before := len(v.errs)
	for i := range v.file.Services {
		s := &v.file.Services[i]
		if s.Name == "" {
			v.mistake(s, "", "a service has no name", "add name: csi-proxy")
		}
		s.Definition = v.define(s)
	}
	if len(v.errs) > before {
		return // a rule about a value that couldn't be read would mislead
	}
	v.errs = append(v.errs, v.file.mistakes(winsvc.Validate(v.file.Definitions()))...)
}

func (v *validator) mistake(s *Service, key, what, fix string) {
	at, ok := s.at[key]
	if !ok {
		at = s.at[""]
	}
	v.errs = append(v.errs, v.fault(at, what, fix))
}

// define makes the definition: csi-proxy's own where the service is
// csi-proxy, else an empty one, with what versions.yaml says over it.
func (v *validator) define(s *Service) winsvc.Service {
	def := winsvc.Service{Start: winsvc.StartAutomatic}
	if s.Name == winsvc.CSIProxyName {
		def = winsvc.CSIProxy()
	}
	said := func(key string) bool { _, ok := s.at[key]; return ok }
	def.Name, def.Component, def.Path = s.Name, s.Component, v.servicePath(s)
	for _, text := range []struct {
		key  string
		into *string
		text string
	}{
		{"display", &def.Display, s.Display}, {"description", &def.Description, s.Description},
		{"account", &def.Account, s.Account}, {"logDirectory", &def.LogDirectory, s.LogDirectory},
	} {
		if said(text.key) {
			*text.into = text.text
		}
	}
	if said("args") {
		def.Arguments = s.Args
	}
	if said("start") {
		def.Start = winsvc.Start(s.Start)
	}
	if said("priority") {
		def.Priority = s.Priority
	}
	if said("recovery") {
		def.Recovery = v.defineRecovery(s)
	}
	def.Dependencies, def.Bootstrap, def.Environment, def.WMCOOnly = s.Dependencies, s.Bootstrap, s.Environment, s.WMCOOnly
	for _, p := range s.PreScripts {
		def.PreScripts = append(def.PreScripts, winsvc.PreScript{Variable: p.Variable, Command: p.Command, NodeArgs: defineNodeArgs(p.NodeArgs)})
	}
	def.NodeArgs = defineNodeArgs(s.NodeArgs)
	return def
}

func defineNodeArgs(args []NodeArg) []winsvc.NodeArg {
	var out []winsvc.NodeArg
	for _, a := range args {
		out = append(out, winsvc.NodeArg(a))
	}
	return out
}

// servicePath is the path of the program that a service runs on the node.
func (v *validator) servicePath(s *Service) string {
	switch {
	case s.Component == "" && s.Path == "":
		v.mistake(s, "", fmt.Sprintf("service %s names no program", s.Name), "add component: NAME, or path: 'C:\\k\\x.exe' for one that something else brings")
	case s.Component != "" && s.Path != "":
		v.mistake(s, "path", fmt.Sprintf("service %s names a component and a path", s.Name), "remove path: and let the component's install be it")
	case s.Path != "":
		return s.Path
	}
	if s.Component == "" || s.Path != "" {
		return ""
	}
	var names []string
	for i := range v.file.Components {
		c := &v.file.Components[i]
		if c.Name == s.Component {
			if c.Install == "" {
				v.mistake(s, "component", fmt.Sprintf("component %s has no path on the node", c.Name), "add install: 'C:\\k\\"+c.Name+".exe' to the component")
			}
			return c.Install
		}
		names = append(names, c.Name)
	}
	fix := "add the component, or write path: for a program that something else brings"
	if near := fault.Nearest(s.Component, names); near != "" {
		fix = "did you mean " + near + "?"
	}
	v.mistake(s, "component", fmt.Sprintf("there is no component %q", s.Component), fix)
	return ""
}

func (v *validator) defineRecovery(s *Service) winsvc.Recovery {
	r := winsvc.Recovery{Command: s.Recovery.Command, OnNonCrash: s.Recovery.OnNonCrash}
	if s.Recovery.Reset != "" {
		var err error
		if r.Reset, err = winsvc.ParseDelay(s.Recovery.Reset, time.Second); err != nil {
			v.mistake(s, "recovery", "reset: "+err.Error(), "write reset: 24h")
		}
	}
	for _, text := range s.Recovery.Actions {
		a, err := winsvc.ParseAction(text)
		if err != nil {
			v.mistake(s, "recovery", err.Error(), "write actions: [restart/10s]")
		}
		r.Actions = append(r.Actions, a)
	}
	if len(r.Actions) == 0 {
		v.mistake(s, "recovery", "recovery has no actions", "add actions: [restart/10s], or remove recovery:")
	}
	return r
}
