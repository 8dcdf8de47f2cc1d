package winsvc

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// wmco are the services that the operator's ConfigMap has, in short.
func wmco() []Service {
	exe := func(name string) Service {
		return Service{Name: name, Path: `C:\k\` + name + `.exe`, Start: StartManual, WMCOOnly: true}
	}
	containerd, kubelet, exporter := exe("containerd"), exe("kubelet"), exe("windows_exporter")
	overlay, proxy := exe("hybrid-overlay-node"), exe("kube-proxy")
	containerd.Bootstrap = true
	kubelet.Bootstrap, kubelet.Priority, kubelet.Dependencies = true, 1, []string{"containerd"}
	kubelet.Arguments = []string{"--node-ip=NODE_IP"}
	kubelet.PreScripts = []PreScript{{Variable: "NODE_IP", Command: "Get-Ip"}}
	exporter.Priority = 2
	overlay.Priority, overlay.Dependencies = 2, []string{"kubelet"}
	overlay.Arguments = []string{"--node", "NODE_NAME"}
	overlay.NodeArgs = []NodeArg{{"NODE_NAME", "{.metadata.name}"}}
	proxy.Priority, proxy.Dependencies = 3, []string{"hybrid-overlay-node"}
	return []Service{exporter, containerd, kubelet, overlay, proxy, CSIProxy("disk-v1", "volume-v1")}
}

func TestValidateAcceptsWMCOs(t *testing.T) {
	if p := Validate(wmco()); len(p) > 0 {
		t.Errorf("%+v", p)
	}
}

func TestValidate(t *testing.T) {
	const overlay, kubelet, proxy, containerd = 3, 2, 5, 1
	for name, c := range map[string]struct {
		service int
		change  func(*Service)
		field   string
		want    string
	}{
		"name":             {proxy, func(s *Service) { s.Name = "csi proxy" }, "name", "can't be called"},
		"empty name":       {overlay, func(s *Service) { s.Name = "" }, "name", "can't be called"},
		"long name":        {overlay, func(s *Service) { s.Name = strings.Repeat("a", 81) }, "name", "can't be called"},
		"WMCO's daemon":    {0, func(s *Service) { s.Name = "Windows-Instance-Config-Daemon" }, "name", "WMCO's own"},
		"Windows' service": {0, func(s *Service) { s.Name = "rpcss" }, "name", "Windows itself"},
		"twice":            {0, func(s *Service) { s.Name = "Kube-Proxy" }, "name", "stands here twice"},
		"second csi-proxy": {0, func(s *Service) { s.Path = `D:\x\CSI-Proxy.exe` }, "name", "both run csi-proxy"},
		"upstream's name":  {proxy, func(s *Service) { s.Name = "csiproxy" }, "name", "fights for the pipes"},
		"start":            {0, func(s *Service) { s.Start = "auto" }, "start", `"auto"`},
		"no start":         {0, func(s *Service) { s.Start = "" }, "start", `""`},
		"display twice":    {0, func(s *Service) { s.Display = "CSI PROXY" }, "display", "Windows refuses the second"},
		"managed":          {0, func(s *Service) { s.Description = "OpenShift managed x" }, "description", "WMCO deletes"},
		"display":          {0, func(s *Service) { s.Display = "a\nb" }, "display", "can't be"},
		"relative path":    {0, func(s *Service) { s.Path = `k\x.exe` }, "path", "isn't a program"},
		"forward slashes":  {0, func(s *Service) { s.Path = `C:/k/x.exe` }, "path", "isn't a program"},
		"no exe":           {0, func(s *Service) { s.Path = `C:\k\x` }, "path", "isn't a program"},
		"parent":           {0, func(s *Service) { s.Path = `C:\k\..\x.exe` }, "path", "isn't a program"},
		"device":           {0, func(s *Service) { s.Path = `C:\k\nul.exe` }, "path", "isn't a program"},
		"quote in path":    {0, func(s *Service) { s.Path = `C:\k\"x.exe` }, "path", "isn't a program"},
		"newline":          {0, func(s *Service) { s.Arguments = []string{"a\nb"} }, "args", "no command line can hold"},
		"invalid UTF-8":    {0, func(s *Service) { s.Arguments = []string{"a\xff"} }, "args", "no command line can hold"},
		"expansion":        {0, func(s *Service) { s.Arguments = []string{"--a=%TEMP%"} }, "args", "Windows replaces %TEMP%"},
		"long":             {0, func(s *Service) { s.Arguments = []string{strings.Repeat("x", 4000)} }, "args", "characters"},
		"pipe":             {proxy, func(s *Service) { s.Pipes = []string{"csi-proxy"} }, "pipes", "isn't the name of a pipe"},
		"pipe twice":       {0, func(s *Service) { s.Pipes = []string{`\\.\pipe\a`}; s.Path = `C:\k\a.exe` }, "", ""},
		"account":          {0, func(s *Service) { s.Account = `CORP\bob` }, "account", "password"},
		"proxy's account":  {proxy, func(s *Service) { s.Account = `NT AUTHORITY\LocalService` }, "account", "may not"},
		"gMSA":             {0, func(s *Service) { s.Account = `CORP\node$` }, "", ""},
		"log directory":    {proxy, func(s *Service) { s.LogDirectory = `var\log` }, "logDirectory", "isn't a folder"},
		"no log directory": {proxy, func(s *Service) { s.LogDirectory = "" }, "args", "nothing makes that folder"},
		"other log":        {proxy, func(s *Service) { s.LogDirectory = `C:\logs` }, "args", `logDirectory is C:\logs`},
		"log flag":         {0, func(s *Service) { s.Arguments = []string{"--log-file", `x.log`} }, "args", "isn't a file"},
		"environment":      {0, func(s *Service) { s.Environment = map[string]string{"A=B": "x"} }, "environment", "name of a variable"},
		"empty value":      {0, func(s *Service) { s.Environment = map[string]string{"A": ""} }, "environment", "can't be"},
		"variable twice":   {0, func(s *Service) { s.Environment = map[string]string{"Path": "a", "PATH": "b"} }, "environment", "one to Windows"},
		"no actions":       {0, func(s *Service) { s.Recovery = Recovery{Reset: time.Hour} }, "recovery", "no actions"},
		"no command":       {0, func(s *Service) { s.Recovery = Recovery{Actions: []Action{{ActionRun, 0}}} }, "recovery", "there is none"},
		"unused command":   {proxy, func(s *Service) { s.Recovery.Command = "x" }, "recovery", "no action runs"},
		"action":           {0, func(s *Service) { s.Recovery = Recovery{Actions: []Action{{"again", 0}}} }, "recovery", "isn't an action"},
		"reset":            {proxy, func(s *Service) { s.Recovery.Reset = -1 }, "recovery", "can't be reset"},
		"variable":         {overlay, func(s *Service) { s.NodeArgs[0].Name = "node" }, "nodeArgs", "can't be called"},
		"unused variable":  {overlay, func(s *Service) { s.NodeArgs[0].Name = "NODE_IP" }, "nodeArgs", "isn't in the command"},
		"overlapping":      {overlay, func(s *Service) { s.NodeArgs = append(s.NodeArgs, NodeArg{"NODE", "{.x}"}) }, "nodeArgs", "hold one another"},
		"JSON path":        {overlay, func(s *Service) { s.NodeArgs[0].Path = "{.metadata" }, "nodeArgs", "can't be read"},
		"script":           {kubelet, func(s *Service) { s.PreScripts[0].Command = " " }, "preScripts", "can't be"},
		"script's args":    {kubelet, func(s *Service) { s.PreScripts[0].NodeArgs = []NodeArg{{"GET", "{.a}"}} }, "preScripts", "isn't in the command"},
		"unused output":    {kubelet, func(s *Service) { s.Arguments = nil }, "preScripts", "isn't in the command"},
		"bootstrap node":   {kubelet, func(s *Service) { s.NodeArgs = []NodeArg{{"NODE_IP", "{.a}"}}; s.PreScripts = nil }, "nodeArgs", "before there is a Node"},
		"dependency":       {0, func(s *Service) { s.Dependencies = []string{"nothing"} }, "dependencies", "isn't here nor known"},
		"known dependency": {0, func(s *Service) { s.Dependencies = []string{"RpcSs", "HNS"} }, "", ""},
		"dependency twice": {overlay, func(s *Service) { s.Dependencies = []string{"kubelet", "Kubelet"} }, "dependencies", "twice"},
		"on itself":        {0, func(s *Service) { s.Dependencies = []string{"windows_exporter"} }, "dependencies", "windows_exporter -> windows_exporter"},
		"cycle":            {containerd, func(s *Service) { s.Dependencies = []string{"kubelet"} }, "dependencies", "containerd -> kubelet -> containerd"},
		"later dependency": {0, func(s *Service) { s.Dependencies = []string{"kube-proxy"} }, "dependencies", "comes later"},
		"disabled":         {overlay, func(s *Service) { s.Start = StartDisabled }, "dependencies", "which is disabled"},
		"not bootstrap":    {containerd, func(s *Service) { s.Bootstrap = false }, "dependencies", "can't depend on containerd"},
		"same priority":    {kubelet, func(s *Service) { s.Priority = 2 }, "priority", "bootstrap service kubelet has priority 2"},
		"late bootstrap":   {proxy, func(s *Service) { s.Bootstrap, s.Priority = true, 9 }, "priority", "bootstrap service csi-proxy has priority 9"},
	} {
		services := wmco()
		c.change(&services[c.service])
		found := Validate(services)
		if c.field == "" {
			if len(found) > 0 {
				t.Errorf("%s: %+v", name, found)
			}
			continue
		}
		if !hasProblem(found, c.field, c.want) {
			t.Errorf("%s: no problem with %s that says %q: %+v", name, c.field, c.want, found)
		}
		for _, p := range found {
			if p.Fix == "" {
				t.Errorf("%s: nothing says how to fix %q", name, p.What)
			}
		}
	}
}

func hasProblem(found []Problem, field, want string) bool {
	for _, p := range found {
		if p.Field == field && strings.Contains(p.What, want) {
			return true
		}
	}
	return false
}

func TestOrdered(t *testing.T) {
	var names []string
	services := wmco()
	services[5].Dependencies = []string{"kubelet"}
	services[0].Dependencies = []string{"csi-proxy"} // same priority, stands later
	for _, s := range Ordered(services) {
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, " "), "containerd kubelet hybrid-overlay-node csi-proxy windows_exporter kube-proxy"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestServiceJSON(t *testing.T) {
	want := CSIProxy("disk-v1")
	want.Environment = map[string]string{"A": "b"}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), `"recovery":{"reset":"24h","actions":["restart/10s","restart/30s","restart/1m"],"onNonCrash":true}`) {
		t.Errorf("%s", data)
	}
	var got Service
	if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{`{"reset":"x"}`, `{"reset":"1h","actions":["restart"]}`, `{"reset":"50d"}`, `{"reset":"1500ms"}`, `[]`} {
		if json.Unmarshal([]byte(bad), &got.Recovery) == nil {
			t.Errorf("%s was read", bad)
		}
	}
	if data, _ := json.Marshal(Service{Name: "x"}); strings.Contains(string(data), "recovery") {
		t.Errorf("no recovery is written as one: %s", data)
	}
}

func TestStandalone(t *testing.T) {
	if !CSIProxy().Standalone() {
		t.Error("csi-proxy needs no WMCO")
	}
	for _, s := range wmco()[:5] {
		s.WMCOOnly = false
		if want := len(s.NodeArgs)+len(s.PreScripts) == 0; s.Standalone() != want {
			t.Errorf("%s: standalone is %v", s.Name, !want)
		}
	}
}

func FuzzParseAction(f *testing.F) {
	for _, s := range []string{"restart/10s", "none/0s", "run/1h30m", "reboot/1ms", "restart", "/1s", "run/-1s", "run/9999h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ParseAction(text)
		if err != nil {
			return
		}
		if again, err := ParseAction(a.String()); err != nil || again != a {
			t.Errorf("%q: %v, then %v, %v", text, a, again, err)
		}
	})
}
