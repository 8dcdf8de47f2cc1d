package manifests

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/windows/winsvc"
)

// odd is a service with everything that cmd.exe could trip over.
func odd() winsvc.Service {
	return winsvc.Service{
		Name: "odd", Display: "R&D (odd)", Description: `100% "odd" | <here>`, Path: `C:\Program Files\R&D (x86)\odd.exe`,
		Arguments: []string{`a b`, `say "hi" & go`, `50%`, `^x|y>z`, `end\`, ``}, LogDirectory: `C:\var\log\R&D (x)`,
		Dependencies: []string{"RpcSs", "csi-proxy"}, Start: winsvc.StartDelayed, Account: `NT AUTHORITY\NetworkService`,
		Environment: map[string]string{"B": `C:\0x;y\`, "A": `b "c"`},
		Priority:    3,
		Recovery: winsvc.Recovery{Command: `C:\k\tell "me".exe`, Actions: []winsvc.Action{
			{Kind: winsvc.ActionNone}, {Kind: winsvc.ActionRun, Delay: time.Second}, {Kind: winsvc.ActionReboot, Delay: time.Minute},
		}},
	}
}

func TestGoldenScripts(t *testing.T) {
	proxy := []winsvc.Service{winsvc.CSIProxy()}
	both := []winsvc.Service{odd(), winsvc.CSIProxy()}
	manual := winsvc.CSIProxy()
	manual.Start, manual.Recovery, manual.LogDirectory, manual.Arguments = winsvc.StartManual, winsvc.Recovery{}, "", nil
	for name, c := range map[string]struct {
		services []winsvc.Service
		write    func([]winsvc.Service) ([]byte, error)
	}{
		"setup.cmd": {proxy, SC}, "undo.cmd": {proxy, UndoSC}, "setup-odd.cmd": {both, SC}, "undo-odd.cmd": {both, UndoSC}, "setup-manual.cmd": {[]winsvc.Service{manual}, SC},
	} {
		text, err := c.write(c.services)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden(t, name, text)
		if again, err := c.write(c.services); err != nil || !bytes.Equal(text, again) {
			t.Errorf("%s: the second time it differs, %v", name, err)
		}
		if bytes.Count(text, []byte("\n")) != bytes.Count(text, []byte("\r\n")) || bytes.Contains(text, []byte("<no value>")) {
			t.Errorf("%s: not every line ends in CR LF, or a value is missing", name)
		}
		labels(t, name, string(text))
	}
}

// labels checks that each jump has one place to go to.
func labels(t *testing.T, name, text string) {
	t.Helper()
	places := map[string]int{}
	for line := range strings.Lines(text) {
		if label, ok := strings.CutPrefix(strings.TrimSpace(line), ":"); ok {
			places[label]++
		}
	}
	for _, word := range []string{"goto ", "call :"} {
		for _, rest := range strings.Split(text, word)[1:] {
			label := strings.TrimPrefix(strings.FieldsFunc(rest, func(r rune) bool { return r == ' ' || r == '\r' })[0], ":")
			if places[label] != 1 {
				t.Errorf("%s: %s%s leads to %d places", name, word, label, places[label])
			}
		}
	}
}

func TestScriptOrder(t *testing.T) {
	for _, c := range []struct {
		write       func([]winsvc.Service) ([]byte, error)
		first, last string
	}{{SC, "---- csi-proxy", "---- odd"}, {UndoSC, "---- odd", "---- csi-proxy"}} {
		text, err := c.write([]winsvc.Service{odd(), winsvc.CSIProxy()})
		if err != nil {
			t.Fatal(err)
		}
		if i, k := bytes.Index(text, []byte(c.first)), bytes.Index(text, []byte(c.last)); i < 0 || i > k {
			t.Errorf("%s at %d, %s at %d", c.first, i, c.last, k)
		}
	}
}

func TestScriptRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*winsvc.Service)
		want   string
	}{
		"WMCO's":      {func(s *winsvc.Service) { s.WMCOOnly = true }, "only WMCO can set it up"},
		"dependency":  {func(s *winsvc.Service) { s.Dependencies = []string{"containerd"} }, "bake manifests setup-script containerd csi-proxy"},
		"not ASCII":   {func(s *winsvc.Service) { s.Display = "Lagerverwaltungsgerät" }, "more than ASCII"},
		"environment": {func(s *winsvc.Service) { s.Environment = map[string]string{"A": separators} }, "every character that could separate"},
		"path":        {func(s *winsvc.Service) { s.Path = `C:\a=b\x.exe` }, "holds = or !"},
		"long":        {func(s *winsvc.Service) { s.Environment = map[string]string{"A": strings.Repeat("x", 9000)} }, "cmd.exe reads 8191"},
	} {
		s := winsvc.CSIProxy()
		c.change(&s)
		for _, write := range []func([]winsvc.Service) ([]byte, error){SC, UndoSC} {
			text, err := write([]winsvc.Service{s})
			if name == "long" && err == nil {
				continue // the undo doesn't write the environment
			}
			if err == nil || text != nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "fix: ") {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		}
	}
}
