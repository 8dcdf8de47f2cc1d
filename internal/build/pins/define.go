package pins

import (
	"fmt"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// services fills in what each service leaves out and checks them all.
func (v *validator) services() {
	before := len(v.Faults)
	for i := range v.file.Services {
		s := &v.file.Services[i]
		if s.Name == "" {
			v.mistake(s, "", "a service has no name", "add name: csi-proxy")
		}
		s.Definition = v.define(s)
	}
	if len(v.Faults) > before {
		return // a rule about a value that couldn't be read would mislead
	}
	v.Faults = append(v.Faults, v.file.mistakes(winsvc.Validate(v.file.Definitions()))...)
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
	def.PreScripts, def.NodeArgs = s.PreScripts, s.NodeArgs
	return def
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
	if t = time.Unix(seconds, 0).UTC(); err == nil && (seconds < 0 || t.Year() > 9999) {
		err = strconv.ErrRange // RFC 3339 has no such year
	}
	if err != nil {
		return t, false, &fault.Error{What: fmt.Sprintf("SOURCE_DATE_EPOCH is %q, not a number of seconds from 1970 on", epoch), Fix: "unset SOURCE_DATE_EPOCH, or set it to: git log -1 --format=%ct", Err: err}
	}
	return t, true, nil
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
