package node

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

const (
	proxyPath = `C:\k\csi-proxy.exe`
	pipeName  = `\\.\pipe\csi-proxy-disk-v1`
	goodSum   = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

func wanted() *Expectation {
	s := winsvc.CSIProxy("disk-v1")
	s.Dependencies = []string{"LanmanWorkstation"}
	s.Environment = map[string]string{"PROXY": "secret"}
	return &Expectation{
		APIVersion: APIVersion,
		Files:      []File{{Component: "csi-proxy", Path: proxyPath, Payload: "csi-proxy/csi-proxy.exe", SHA256: goodSum, Size: 7, Version: "v1.3.0"}},
		Services:   []Service{{Service: s, Log: `C:\var\log\csi-proxy\csi-proxy.log`, Version: "v1.3.0"}},
	}
}

// healthy is a node as it should be.
func healthy() *Facts {
	want := wanted().Services[0]
	return &Facts{
		Managed: Say(false),
		Services: []ServiceFacts{{
			Name: "CSI-Proxy", Exists: Say(true), State: Say("running"), PID: Say(uint32(40)), Alive: true,
			Configuration: Configuration{
				Command: Say(`"c:\K\csi-proxy.exe" ` + strings.TrimPrefix(want.Command(), proxyPath+" ")),
				Start:   Say(winsvc.StartAutomatic), Account: Say("NT AUTHORITY\\SYSTEM"), Dependencies: Say([]string{"lanmanworkstation"}),
				Recovery: Say(want.Recovery), Environment: Say([]string{"Proxy=secret"}),
			},
			LogDirectory: Say(true), LogVersion: Say("v1.3.0"), Rivals: Say([]*Registered(nil)),
		}},
		Files: []FileFacts{{Path: `c:\k\CSI-proxy.exe`, Exists: Say(true), SHA256: Say(goodSum), Size: 7}},
		Pipes: []PipeFacts{{Name: pipeName, Exists: Say(true), PID: Say(uint32(40)), Answer: Say(AnswerOK)}},
	}
}

func TestCompareHealthyPassesEveryRule(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Compare(wanted(), healthy()) {
		seen[f.ID] = true
		if f.Severity != finding.Pass {
			t.Errorf("%s %s: %s, observed %q, expected %q", f.Severity, f.ID, f.Object, f.Observed, f.Expected)
		}
	}
	for _, r := range Rules {
		if !seen[r.ID] && r.ID != FileMissing { // a file that is there has one finding
			t.Errorf("%s (%s) said nothing", r.ID, r.Title)
		}
	}
}

func TestCompareDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		spoil    func(*Facts)
		id       string
		severity finding.Severity
	}{
		"absent":                 {func(f *Facts) { f.Services[0].Exists = Say(false) }, ServiceAbsent, finding.Block},
		"another program":        {func(f *Facts) { f.Services[0].Command = Say(`C:\other\csi-proxy.exe`) }, ServiceCommand, finding.Block},
		"one flag less":          {func(f *Facts) { f.Services[0].Command = Say(proxyPath + " -windows-service") }, ServiceCommand, finding.Block},
		"manual":                 {func(f *Facts) { f.Services[0].Start = Say(winsvc.StartManual) }, ServiceStart, finding.Block},
		"delayed":                {func(f *Facts) { f.Services[0].Start = Say(winsvc.StartDelayed) }, ServiceStart, finding.Warn},
		"no recovery":            {func(f *Facts) { f.Services[0].Recovery = Say(winsvc.Recovery{}) }, ServiceRecovery, finding.Warn},
		"stopped":                {func(f *Facts) { f.Services[0].State = Say("stopped") }, ServiceRunning, finding.Block},
		"killed":                 {func(f *Facts) { f.Services[0].Alive = false }, ServiceRunning, finding.Block},
		"running second owner":   {func(f *Facts) { f.Services[0].Rivals = rivals("running", winsvc.StartManual) }, SecondOwner, finding.Block},
		"automatic second owner": {func(f *Facts) { f.Services[0].Rivals = rivals("stopped", winsvc.StartAutomatic) }, SecondOwner, finding.Block},
		"dormant second owner":   {func(f *Facts) { f.Services[0].Rivals = rivals("stopped", winsvc.StartManual) }, SecondOwner, finding.Warn},
		"other bytes":            {func(f *Facts) { f.Files[0].SHA256 = Say(strings.Repeat("f", 64)) }, FileDiffers, finding.Block},
		"no file":                {func(f *Facts) { f.Files[0].Exists = Say(false) }, FileMissing, finding.Block},
		"no log directory":       {func(f *Facts) { f.Services[0].LogDirectory = Say(false) }, LogDirectory, finding.Block},
		"no pipe":                {func(f *Facts) { f.Pipes[0].Exists = Say(false) }, PipeMissing, finding.Block},
		"another's pipe":         {func(f *Facts) { f.Pipes[0].PID = Say(uint32(41)) }, PipeOwner, finding.Block},
		"nobody's pipe":          {func(f *Facts) { f.Services[0].PID, f.Pipes[0].PID = Say(uint32(0)), Say(uint32(0)) }, PipeOwner, finding.Block},
		"mute pipe":              {func(f *Facts) { f.Pipes[0].Answer = Say("no answer in 5s") }, PipeAnswer, finding.Block},
		"older program":          {func(f *Facts) { f.Services[0].LogVersion = Say("v1.1.3") }, LogVersion, finding.Block},
		"another account":        {func(f *Facts) { f.Services[0].Account = Say(`.\joe`) }, ServiceAccount, finding.Block},
		"no dependency":          {func(f *Facts) { f.Services[0].Dependencies = Say([]string(nil)) }, ServiceDependencies, finding.Warn},
		"another variable":       {func(f *Facts) { f.Services[0].Environment = Say([]string{"PROXY=secret", "X=1"}) }, ServiceEnvironment, finding.Block},
		"another value":          {func(f *Facts) { f.Services[0].Environment = Say([]string{"PROXY=hidden"}) }, ServiceEnvironment, finding.Block},
		"no variable":            {func(f *Facts) { f.Services[0].Environment = Say([]string{}) }, ServiceEnvironment, finding.Block},
		"half changed":           {func(f *Facts) { f.Interrupted = "upgrade to sha256:ab" }, NodeInterrupted, finding.Block},
	} {
		t.Run(name, func(t *testing.T) {
			facts := healthy()
			c.spoil(facts)
			f := find(Compare(wanted(), facts), c.id)
			if f == nil || f.Severity != c.severity {
				t.Fatalf("%s: %+v, want %s", c.id, f, c.severity)
			}
			if f.Why == "" || f.Remedy == "" || f.Observed == "" || f.Expected == "" {
				t.Errorf("%+v lacks words", f)
			}
			if strings.Contains(f.Observed+f.Expected, "secret") || strings.Contains(f.Observed, "hidden") {
				t.Errorf("%+v shows what a variable holds", f)
			}
		})
	}
}

// A service that is stopped and disabled, as the remedy leaves it, owns nothing.
func TestDisabledRivalIsNone(t *testing.T) {
	facts := healthy()
	facts.Services[0].Rivals = rivals("stopped", winsvc.StartDisabled)
	if f := find(Compare(wanted(), facts), SecondOwner); f == nil || f.Severity != finding.Pass {
		t.Errorf("%+v", f)
	}
}

// Remedies hold the node's own names and numbers: one that is copied does what
// it says, whatever the service should be.
func TestCompareRemedies(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Facts)
		id    string
		says  string
	}{
		"manual":       {func(f *Facts) { f.Services[0].Start = Say(winsvc.StartManual) }, ServiceStart, "verify.exe node install"},
		"no recovery":  {func(f *Facts) { f.Services[0].Recovery = Say(winsvc.Recovery{}) }, ServiceRecovery, "verify.exe node install"},
		"second owner": {func(f *Facts) { f.Services[0].Rivals = rivals("running", winsvc.StartManual) }, SecondOwner, `sc.exe stop "csiproxy", then sc.exe config "csiproxy" start= disabled`},
		"dormant one":  {func(f *Facts) { f.Services[0].Rivals = rivals("stopped", winsvc.StartManual) }, SecondOwner, `on the node: sc.exe config "csiproxy" start= disabled`},
		"pipe's owner": {func(f *Facts) { f.Pipes[0].PID = Say(uint32(41)) }, PipeOwner, "taskkill /f /pid 41"},
		"no owner":     {func(f *Facts) { f.Services[0].PID, f.Pipes[0].PID = Say(uint32(0)), Say(uint32(0)) }, PipeOwner, "verify.exe node install"},
	} {
		facts := healthy()
		c.spoil(facts)
		if f := find(Compare(wanted(), facts), c.id); f == nil || !strings.Contains(f.Remedy, c.says) {
			t.Errorf("%s: the remedy is %+v, want %q", name, f, c.says)
		}
	}
}

func rivals(state string, start winsvc.Start) Told[[]*Registered] {
	return Say([]*Registered{{Name: "csiproxy", State: state, Configuration: Configuration{Command: Say(proxyPath), Start: Say(start)}}})
}

// A service that others start may be stopped; nobody else may serve its pipes
// meanwhile. WMCO's own manual services run.
func TestCompareIdleServices(t *testing.T) {
	for name, c := range map[string]struct {
		start   winsvc.Start
		spoil   func(*Facts)
		managed bool
		blocks  []string
	}{
		"manual":                 {winsvc.StartManual, func(*Facts) {}, false, nil},
		"disabled":               {winsvc.StartDisabled, func(*Facts) {}, false, nil},
		"manual, of WMCO":        {winsvc.StartManual, func(*Facts) {}, true, []string{LogVersion, PipeMissing, ServiceRunning}},
		"manual, its pipe taken": {winsvc.StartManual, func(f *Facts) { f.Pipes[0].Exists, f.Pipes[0].PID = Say(true), Say(uint32(9)) }, false, []string{PipeOwner}},
		"manual, and half ended": {winsvc.StartManual, func(f *Facts) { f.Services[0].State = Say(StateRunning) }, false, []string{LogVersion, PipeMissing, ServiceRunning}},
	} {
		want, facts := wanted(), healthy()
		want.Services[0].Start, facts.Services[0].Start, facts.Managed = c.start, Say(c.start), Say(c.managed)
		facts.Services[0].State, facts.Services[0].PID, facts.Services[0].Alive = Say(StateStopped), Say(uint32(0)), false
		facts.Services[0].LogVersion, facts.Pipes[0].Exists = Say("v1.1.3"), Say(false)
		c.spoil(facts)
		var blocks []string
		for _, f := range Compare(want, facts) {
			if f.Severity > finding.Info {
				blocks = append(blocks, f.ID)
			}
		}
		slices.Sort(blocks)
		slices.Sort(c.blocks)
		if !slices.Equal(blocks, c.blocks) {
			t.Errorf("%s: %q, want %q", name, blocks, c.blocks)
		}
	}
}

// On a node of WMCO's its daemon decides over start type and recovery, and
// over nothing else that is checked.
func TestCompareManagedNode(t *testing.T) {
	facts := healthy()
	facts.Managed = Say(true)
	facts.Services[0].Start = Say(winsvc.StartManual)
	facts.Services[0].Environment = Say([]string(nil))
	facts.Services[0].Recovery = Unknown[winsvc.Recovery]("invalid level")
	facts.Services[0].State = Say("stopped")
	found := Compare(wanted(), facts)
	for id, want := range map[string]finding.Severity{ServiceStart: finding.Info, ServiceEnvironment: finding.Info, ServiceRecovery: finding.Info, ServiceRunning: finding.Block} {
		if f := find(found, id); f == nil || f.Severity != want {
			t.Errorf("%s: %+v, want %s", id, f, want)
		}
	}
}

// Whatever a node doesn't tell is UNKNOWN with its reason. Facts that nobody
// gathered are none.
func TestCompareUntoldNeverPasses(t *testing.T) {
	for _, f := range Compare(wanted(), &Facts{}) {
		if f.ID != NodeInterrupted && f.Severity != finding.Unknown {
			t.Errorf("an empty answer: %+v", f)
		}
	}
	facts := healthy()
	facts.Services[0].Recovery = Unknown[winsvc.Recovery]("the service manager says: invalid level")
	facts.Services[0].State = Told[string]{}
	facts.Services[0].PID = Told[uint32]{}
	facts.Pipes[0].Answer = Unknown[string]("no time")
	found := Compare(wanted(), facts)
	for _, id := range []string{ServiceRecovery, ServiceRunning, PipeOwner, PipeAnswer} {
		f := find(found, id)
		if f == nil || f.Severity != finding.Unknown {
			t.Errorf("%s: %+v, want UNKNOWN", id, f)
		}
	}
	if f := find(found, ServiceRecovery); !strings.Contains(f.Observed, "invalid level") {
		t.Errorf("the reason is lost: %+v", f)
	}
}

func find(fs []finding.Finding, id string) *finding.Finding {
	for i := range fs {
		if fs[i].ID == id {
			return &fs[i]
		}
	}
	return nil
}

func TestFactsJSONKeepsWhatWasntTold(t *testing.T) {
	facts := healthy()
	facts.Services[0].Recovery = Unknown[winsvc.Recovery]("invalid level")
	data, err := json.Marshal(facts)
	if err != nil {
		t.Fatal(err)
	}
	var back Facts
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if _, ok := back.Services[0].Recovery.Get(); ok || back.Services[0].Recovery.Reason() != "invalid level" {
		t.Errorf("%+v", back.Services[0].Recovery)
	}
	if got, want := fmt.Sprint(Compare(wanted(), &back)), fmt.Sprint(Compare(wanted(), facts)); got != want {
		t.Errorf("findings differ after JSON:\n%s\n%s", got, want)
	}
}

func TestParse(t *testing.T) {
	data, err := wanted().Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := back.Encode(); err != nil || string(again) != string(data) {
		t.Errorf("%v: another text:\n%s", err, again)
	}
	for name, edit := range map[string][2]string{
		"unknown field":   {`"release"`, `"realease"`},
		"other version":   {"node/v1", "node/v2"},
		"relative path":   {`C:\\k\\csi-proxy.exe`, `k\\csi-proxy.exe`},
		"way out":         {`C:\\k\\csi-proxy.exe`, `C:\\k\\..\\csi-proxy.exe`},
		"short sum":       {goodSum, goodSum[1:]},
		"no folder":       {`C:\\var\\log\\csi-proxy"`, `log"`},
		"cut in the end":  {"\n}\n", "\n"},
		"more behind it":  {"\n}\n", "\n}{}\n"},
		"a path as sum":   {goodSum, "../" + goodSum[3:]},
		"a device":        {`C:\\k\\csi-proxy.exe`, `C:\\k\\nul.exe`},
		"a line break":    {`C:\\k\\csi-proxy.exe`, `C:\\k\\csi\n.exe`},
		"a file's folder": {`"files": [`, `"files": [{"component":"x","path":"C:\\K","payload":"x","sha256":"` + goodSum + `","size":1},`},
		"no such start":   {`"start": "automatic"`, `"start": "now"`},
		"a password":      {`"start": "automatic"`, `"start": "automatic", "account": "joe"`},
		"Windows' own":    {`"name": "csi-proxy"`, `"name": "RpcSs"`},
		"WMCO's daemon":   {`"name": "csi-proxy"`, `"name": "windows-instance-config-daemon"`},
		"a name of words": {`"name": "csi-proxy"`, `"name": "csi proxy & del"`},
		"a foreign pipe":  {`\\\\.\\pipe\\csi`, `\\\\elsewhere\\pipe\\csi`},
		"a remote log":    {`"log": "C:`, `"log": "\\\\elsewhere`},
		"a past delay":    {`restart/10s`, `restart/-10s`},
		"no variable":     {`"PROXY": `, `"PRO=XY": `},
		"WMCO's alone":    {`"start": "automatic"`, `"start": "automatic", "preScripts": [{"command": "Get-Date"}]`},
		"a kept file":     {`"services": [`, `"kept": [{"payload":"x","sha256":"` + goodSum + `","size":1,"base":"` + goodSum + `"}],"services": [`},
		"a kept sum":      {`"services": [`, `"kept": [{"payload":"x","sha256":"../x","size":1,"base":"sha256:` + goodSum + `"}],"services": [`},
		"kept, no name":   {`"services": [`, `"kept": [{"payload":"","sha256":"` + goodSum + `","size":1,"base":"sha256:` + goodSum + `"}],"services": [`},
		"same file twice": {`"files": [`, `"files": [{"component":"x","path":"c:\\K\\csi-proxy.exe","payload":"x","sha256":"` + goodSum + `","size":1},`},
	} {
		e := wanted()
		e.Release = "4.20"
		data, _ := e.Encode()
		bad := strings.Replace(string(data), edit[0], edit[1], 1)
		if _, err := Parse([]byte(bad)); bad == string(data) || err == nil {
			t.Errorf("%s: was read", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := wanted().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"apiVersion":"winbake.dev/node/v1","files":[{"path":"C:\\a"}]}`))
	for _, odd := range [][2]string{{`"size": 7`, `"size": -1`}, {`"automatic"`, `"\u0000"`}, {`restart/10s`, `restart/9999h`}, {`"priority": `, `"priority": -`}, {"null", "{}"}} {
		f.Add([]byte(strings.Replace(string(data), odd[0], odd[1], 1)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := Parse(data)
		if err != nil {
			return
		}
		for _, file := range e.Files {
			if !winsvc.LegalPath(file.Path) || strings.Contains(file.Path, `\..`) {
				t.Errorf("a path was taken: %q", file.Path)
			}
		}
		for _, s := range e.Services {
			if argv, err := winsvc.ParseCommand(s.Command()); err != nil || argv[0] != s.Path || strings.ContainsAny(s.Name, "\\/ \x00") {
				t.Errorf("a service was taken: %+v", s)
			}
		}
		Compare(e, &Facts{})
	})
}

func TestPaths(t *testing.T) {
	for p, want := range map[string]bool{
		`C:\k\x.exe`: true, `c:\Ä ö\é.exe`: true, `C:\`: false, `C:k`: false, `\\host\share`: false, `C:\a\..\b`: false, `C:\a:b`: false,
		`C:\a\\b`: false, `C:/a`: false, `1:\abc`: false, `C:\a.`: false, `C:\a `: false, "": false,
	} {
		if winsvc.LegalPath(p) != want {
			t.Errorf("LegalPath(%q) = %t", p, !want)
		}
	}
	if winsvc.Directory(`C:\k\x.exe`) != `C:\k` || Base(`C:\k\x.exe`) != "x.exe" || !SamePath(`c:/K/x`, `C:\k\X`) {
		t.Error("Directory, Base or SamePath")
	}
}

// A file lacks one thing at a time.
func TestParseRefusesFilesThatLackSomething(t *testing.T) {
	const whole = `{"apiVersion":"winbake.dev/node/v1","files":[{"component":"a","path":"C:\\k\\a.exe","payload":"a.exe","sha256":"` + "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" + `","size":7}],"services":[]}`
	if _, err := Parse([]byte(whole)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{"89abcdef\"", "89abcde\""}, {`"size":7`, `"size":-7`}, {`"payload":"a.exe"`, `"payload":""`}, {`C:\\k\\a.exe`, `k\\a.exe`}} {
		text := strings.Replace(whole, change[0], change[1], 1)
		if text == whole {
			t.Fatalf("%q isn't there", change[0])
		}
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), "lacks a sum, a size or an absolute path") {
			t.Errorf("%s: %v", change[1], err)
		}
	}
}
