package winsvc

import (
	"strings"
	"testing"
)

var (
	flags02  = []string{"-kubelet-csi-plugins-path", "-kubelet-pod-path", "-windows-service"}
	flags113 = []string{"-kubelet-path", "-windows-service", "-working-dir"}
	flags130 = []string{"-kubelet-path", "-metrics-bind-address", "-require-privacy", "-windows-service", "-working-dir"}
)

func TestProxyArguments(t *testing.T) {
	base := CSIProxy().Arguments
	for name, c := range map[string]struct {
		own  []string
		add  []string
		want string // "" accepts
	}{
		"WMCO's own on 0.2":         {flags02, nil, ""},
		"WMCO's own on 1.1.3":       {flags113, nil, ""},
		"WMCO's own on 1.3.0":       {flags130, nil, ""},
		"privacy on 1.1.3":          {flags113, []string{"-require-privacy=false"}, "doesn't know the flag -require-privacy and would end"},
		"privacy on 1.3.0":          {flags130, []string{"-require-privacy=false"}, ""},
		"metrics on 1.1.3":          {flags113, []string{"-metrics-bind-address=:8888"}, "doesn't know"},
		"metrics on 1.3.0":          {flags130, []string{"-metrics-bind-address", ":8888"}, ""},
		"removed in 1.0":            {flags113, []string{`-kubelet-pod-path=C:\x`}, "doesn't know"},
		"klog v2 on 0.2":            {flags02, []string{"-one_output"}, "doesn't know"},
		"klog v2 on 1.1.3":          {flags113, []string{"-one_output"}, ""},
		"two working folders":       {flags113, []string{`-working-dir=C:\a`, `-working-dir`, `D:\b\`}, ""},
		"relative folder":           {flags113, []string{`-working-dir=a`}, `can't be "a"`},
		"positional":                {flags113, []string{"start"}, `reads no flag from "start" on`},
		"bool with a value apart":   {flags113, []string{"-alsologtostderr", "false"}, `reads no flag from "false" on`},
		"terminator":                {flags113, []string{"--"}, "reads no flag"},
		"no value":                  {flags113, []string{"-vmodule"}, "has no value"},
		"bad bool":                  {flags113, []string{"-skip_headers=maybe"}, `can't be "maybe"`},
		"bad size":                  {flags113, []string{"-log_file_max_size=1MB"}, `can't be "1MB"`},
		"good size":                 {flags113, []string{"-log_file_max_size=100"}, ""},
		"severity":                  {flags113, []string{"-stderrthreshold=warning"}, ""},
		"bad severity":              {flags113, []string{"-stderrthreshold=loud"}, `can't be "loud"`},
		"modules":                   {flags113, []string{"-vmodule=server=4,disk*=2"}, ""},
		"bad modules":               {flags113, []string{"-vmodule=server"}, "can't be"},
		"trace":                     {flags113, []string{"-log_backtrace_at=server.go:77"}, ""},
		"bad trace":                 {flags113, []string{"-log_backtrace_at=77"}, "can't be"},
		"twice":                     {flags113, []string{"--v=4"}, "stands here twice"},
		"help":                      {flags113, []string{"-h"}, "doesn't know"},
		"odd syntax":                {flags113, []string{"---x"}, "doesn't know"},
		"a flag of a later release": {append(flags130, "-shiny"), []string{"-shiny=x"}, ""},
	} {
		s := CSIProxy()
		s.Arguments = append(append([]string{}, base...), c.add...)
		found := CheckProxyArguments(0, s, "v0", c.own)
		if c.want == "" && len(found) > 0 || c.want != "" && !hasProblem(found, "args", c.want) {
			t.Errorf("%s: want %q, have %+v", name, c.want, found)
		}
	}
}

func TestProxyArgumentsTogether(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no service": {[]string{"--v=2"}, "never answers the service manager"},
		"off":        {[]string{"-windows-service=false"}, "never answers the service manager"},
		"no file":    {[]string{"-windows-service", `-log_file=C:\x\y.log`}, "writes no log file"},
		"level":      {[]string{"-windows-service", "--v=high"}, `can't be "high"`},
		"misspelt":   {[]string{"-windows_service"}, "doesn't know"},
	} {
		found := CheckProxyArguments(3, Service{Arguments: c.args}, "v1.1.3", flags113)
		if !hasProblem(found, "args", c.want) || found[0].Service != 3 {
			t.Errorf("%s: %+v", name, found)
		}
	}
	found := CheckProxyArguments(0, Service{Arguments: []string{"-windows_service"}}, "v1.1.3", flags113)
	if len(found) != 1 || !strings.Contains(found[0].Fix, "did you mean -windows-service?") {
		t.Errorf("%+v", found)
	}
}

// FuzzProxyArguments holds the check to csi-proxy's own flag package: see
// accepts.
func FuzzProxyArguments(f *testing.F) {
	f.Add(`-log_file=C:\a\b.log`, "-logtostderr=false", "--v=2", "-windows-service")
	f.Add("-v", "2", "--", "x")
	f.Add("-windows-service", "false", "-=", "")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		args := []string{a, b, c, d}
		found := CheckProxyArguments(0, Service{Arguments: args}, "v1.3.0", flags130)
		if len(found) == 0 && !accepts(args) {
			t.Errorf("%q has no problem, and csi-proxy wouldn't take it", args)
		}
	})
}
