package pins

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"golang.org/x/mod/semver"

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

// StampData is what a stamp's template may name.
type StampData struct {
	Version string // as pinned: "v1.33.13"; the commit for a git source
	Commit  string // full, of the source
	Date    string // of a git source's commit, RFC 3339 in UTC; else 1970
	Major   string // "1"
	Minor   string // "33"
}

// Epoch is the time of what has no date that anything proves, as ko and
// Kubernetes' own version package have it.
const Epoch = "1970-01-01T00:00:00Z"

// SourceDate is the time that SOURCE_DATE_EPOCH sets, in seconds; "" sets none
// (https://reproducible-builds.org/specs/source-date-epoch/).
func SourceDate(epoch string) (t time.Time, set bool, err error) {
	if epoch == "" {
		return t, false, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return t, false, &fault.Error{What: fmt.Sprintf("SOURCE_DATE_EPOCH is %q, not a number of seconds", epoch), Fix: "unset SOURCE_DATE_EPOCH, or set it to: git log -1 --format=%ct", Err: err}
	}
	return time.Unix(seconds, 0).UTC(), true, nil
}

// Stamps renders the component's stamps from its lock. sourceDateEpoch, in
// seconds as SOURCE_DATE_EPOCH has it, replaces the date; "" keeps it. A
// module has none: its h1 covers no date, and proxies tell different ones.
func (c *Component) Stamps(l *Locked, sourceDateEpoch string) (map[string]string, error) {
	if len(c.Stamp) == 0 {
		return nil, nil
	}
	data := StampData{Version: c.Version, Commit: l.Commit, Date: cmp.Or(l.Date, Epoch)}
	if data.Version == "" {
		data.Version = c.Commit
	}
	if major, minor, ok := strings.Cut(strings.TrimPrefix(semver.MajorMinor(c.Version), "v"), "."); ok {
		data.Major, data.Minor = major, minor
	}
	if t, set, err := SourceDate(sourceDateEpoch); err != nil {
		return nil, err
	} else if set {
		data.Date = t.Format(time.RFC3339)
	}
	rendered := map[string]string{}
	for name, text := range c.Stamp {
		if data.Commit == "" && strings.Contains(text, ".Commit") {
			return nil, &fault.Error{Where: c.Name, What: fmt.Sprintf("stamp %s uses {{.Commit}}, and the proxy doesn't tell the commit of %s@%s", name, c.Module, c.Version),
				Fix: "add commit: (the tag's full commit) to the component, or take the stamp out"}
		}
		value, err := renderStamp(text, data)
		if err != nil {
			return nil, fmt.Errorf("stamp %s: %w", name, err)
		}
		rendered[name] = value
	}
	return rendered, nil
}

func renderStamp(text string, data StampData) (string, error) {
	t, err := template.New("stamp").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, data); err != nil {
		return "", err
	}
	if strings.ContainsAny(b.String(), "\x00\n\r") || strings.Contains(b.String(), "'") && strings.Contains(b.String(), `"`) {
		return "", fmt.Errorf("%q can't be passed to the linker", b.String())
	}
	return b.String(), nil
}
