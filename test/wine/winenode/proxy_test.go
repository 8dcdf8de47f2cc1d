package winenode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/winbake/winbake/test/support/await"
)

const (
	proxyPath = `C:\k\csi-proxy.exe`
	proxyLog  = `C:\var\log\csi-proxy\csi-proxy.log`
	// As WMCO writes it; upstream's own example is a service csiproxy.
	proxyCommand = proxyPath + ` -log_file=` + proxyLog + ` -logtostderr=false -windows-service --v=2`
	client       = `C:\tools\csiclient.exe`
	kubelet      = `C:\var\lib\kubelet`
)

// proxy is a node with csi-proxy running on it as a service, and a client
// program beside it.
type proxy struct {
	*Node
	ssh *ssh.Client
}

// startProxy installs csi-proxy as sc.exe does it and waits for its pipes.
func startProxy(t *testing.T, file string) proxy {
	t.Helper()
	p := proxy{Node: Start(t, Options{})}
	p.ssh = dial(t, p.Node)
	p.Put(t, Built(t, file, "csi-proxy"), proxyPath)
	p.Put(t, Program(t, "./test/wine/winenode/csiclient"), client)
	p.must(t, `mkdir C:\var\log\csi-proxy `+kubelet)
	p.must(t, `sc.exe create csi-proxy binPath= "`+proxyCommand+`" start= auto`)
	p.must(t, `sc.exe start csi-proxy`)
	p.waitForPipes(t)
	return p
}

// must runs a command. Wine's sc.exe gives back codes that differ from version
// to version, so what counts is what comes of it.
func (p proxy) must(t *testing.T, command string) {
	t.Helper()
	if r := run(t, p.ssh, "", command); r.stderr != "" {
		t.Fatalf("%s: %+v", command, r)
	}
}

// waitForPipes waits until every v1 pipe is open.
func (p proxy) waitForPipes(t *testing.T) {
	t.Helper()
	var r result
	await.True(t, "the pipes open", func() bool {
		r = run(t, p.ssh, "", client+" dial")
		return r.code == 0
	}, func() any { return r })
}

// running is csi-proxy's processes.
func (p proxy) running(t *testing.T) []Process {
	t.Helper()
	found, err := p.Processes("csi-proxy.exe")
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// step is a call of csi-proxy; done is what came of it, as csiclient prints it.
type step struct {
	Group, Method string
	Request       map[string]any
}

type done struct {
	Call    string
	Answer  json.RawMessage
	Error   string
	compact string // Answer without the spaces that protojson puts in at random
}

// calls makes calls in one run of the client, all of them, whatever fails.
func (p proxy) calls(t *testing.T, wants []want) []done {
	t.Helper()
	steps := make([]step, len(wants))
	for i, w := range wants {
		steps[i] = step{w.group, w.method, w.request}
		if w.request == nil {
			steps[i].Request = map[string]any{}
		}
	}
	text, err := json.Marshal(steps)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, p.ssh, string(text), client+" call")
	all := parseDone(t, r)
	if r.code != 0 || len(all) != len(wants) {
		t.Fatalf("of %d calls %d were made: %+v", len(wants), len(all), r)
	}
	return all
}

func parseDone(t *testing.T, r result) []done {
	t.Helper()
	var all []done
	for line := range strings.Lines(r.stdout) {
		var d done
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatalf("csiclient printed %q: %v", line, err)
		}
		var compact bytes.Buffer
		if len(d.Answer) > 0 && json.Compact(&compact, d.Answer) != nil {
			t.Fatalf("csiclient printed %q", line)
		}
		d.compact = compact.String()
		all = append(all, d)
	}
	return all
}

// want is a call and what must come of it: an answer, or a part of the error.
type want struct {
	group, method string
	request       map[string]any
	answer, fails string
}

func (p proxy) check(t *testing.T, wants []want) {
	t.Helper()
	for i, d := range p.calls(t, wants) {
		w := wants[i]
		switch {
		case w.fails == "" && (d.Error != "" || d.compact != w.answer):
			t.Errorf("%s %v: %s %s, want %s", d.Call, w.request, d.compact, d.Error, w.answer)
		case w.fails != "" && !strings.Contains(strings.ToLower(d.Error), strings.ToLower(w.fails)):
			t.Errorf("%s %v: %s %q, want an error with %q", d.Call, w.request, d.compact, d.Error, w.fails)
		}
	}
}

// log waits until csi-proxy's log has a text: it's written in blocks.
func (p proxy) waitForLog(t *testing.T, text string) {
	t.Helper()
	path, err := p.Path(proxyLog)
	if err != nil {
		t.Fatal(err)
	}
	var log []byte
	await.True(t, "the log has "+text, func() bool {
		log, err = os.ReadFile(path)
		return err == nil && strings.Contains(string(log), text)
	}, func() any { return fmt.Sprintf("%v\n%s", err, log) })
}

func path(parts ...string) map[string]any {
	return map[string]any{"path": kubelet + `\` + strings.Join(parts, `\`)}
}

// filesystemCalls are what every line of csi-proxy answers alike. Not among
// them: links, which Wine makes none of and says it did, and Rmdir with force,
// which fails in Wine when built with Go 1.26.
var filesystemCalls = []want{
	{"filesystem", "PathExists", path("plugins"), `{}`, ""},
	{"filesystem", "Mkdir", path("plugins"), `{}`, ""},
	{"filesystem", "Mkdir", path("plugins", "zür ich"), `{}`, ""},
	{"filesystem", "PathExists", path("plugins", "zür ich"), `{"exists":true}`, ""},
	{"filesystem", "Rmdir", path("plugins"), "", "directory is not empty"},
	{"filesystem", "Rmdir", path("plugins", "zür ich"), `{}`, ""},
	{"filesystem", "Rmdir", path("plugins"), `{}`, ""},
	{"filesystem", "PathExists", path("plugins"), `{}`, ""},
	{"filesystem", "Mkdir", map[string]any{"path": `C:\outside`}, "", "not within the working directories"},
	{"filesystem", "PathExists", map[string]any{"path": `C:\Windows\System32`}, "", "not within the working directories"},
	{"filesystem", "Mkdir", path("..", "..", "k", "x"), "", "invalid characters"},
	{"filesystem", "Mkdir", map[string]any{"path": `\\server\share`}, "", "invalid character"},
	{"filesystem", "Mkdir", map[string]any{"path": `plugins`}, "", "not an absolute Windows path"},
}

func TestCSIProxyServes(t *testing.T) {
	for version, file := range map[string]string{"v1.1.3": CSIProxy11, "v1.3.0": CSIProxy13} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			p := startProxy(t, file)
			p.check(t, filesystemCalls)
			if isDir(p.C() + "/outside") {
				t.Error(`C:\outside was made`)
			}
			p.waitForLog(t, "Version: "+version)
			checkDeath(t, p)
		})
	}
}

// checkDeath kills csi-proxy. Its process and its pipes are gone, and Wine goes
// on saying that it runs: who asks sc.exe alone is told wrong.
func checkDeath(t *testing.T, p proxy) {
	t.Helper()
	found := p.running(t)
	if len(found) != 1 {
		t.Fatalf("csi-proxy runs as %+v", found)
	}
	if err := p.Kill(found[0]); err != nil {
		t.Fatal(err)
	}
	for len(p.running(t)) > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	r := run(t, p.ssh, "", client+" dial")
	if r.code == 0 || !strings.Contains(r.stderr, "The system cannot find the file specified") && !strings.Contains(r.stderr, "File not found") {
		t.Errorf("a dead csi-proxy's pipes: %+v", r)
	}
	if r := run(t, p.ssh, "", "sc query csi-proxy"); !strings.Contains(r.stdout, "RUNNING") {
		t.Errorf("sc query says %q: docs/windows-truth.md has it otherwise", r.stdout)
	}
}
