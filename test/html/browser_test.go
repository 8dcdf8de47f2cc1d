package html

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience is how long the browser may take for one answer, on a machine that
// does much else.
const patience = 2 * time.Minute

// browser is a headless Chromium, spoken to over a pipe as
// https://chromedevtools.github.io/devtools-protocol/ says: messages of JSON,
// each ended by a zero byte. Nothing listens on a port.
type browser struct {
	t     *testing.T
	write *os.File

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	events  []message
	arrived chan struct{} // closed and renewed at each event
}

type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium isn't there: apt-get install chromium, or test/deps.sh")
	}
	toBrowser, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	read, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Tests run as root in containers, where Chromium's sandbox doesn't start.
	cmd := exec.CommandContext(t.Context(), program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--no-first-run", "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser} // descriptors 3 and 4
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	b := &browser{t: t, write: write, waiting: map[int]chan message{}, arrived: make(chan struct{})}
	go b.listen(read)
	t.Cleanup(func() {
		write.Close()
		_ = cmd.Wait() // the test's context has killed it
		if t.Failed() {
			t.Logf("chromium said:\n%s", log.String())
		}
		read.Close()
	})
	return b
}

// listen hands answers to those who wait for them and keeps events.
func (b *browser) listen(from *os.File) {
	r := bufio.NewReader(from)
	for {
		line, err := r.ReadBytes(0)
		if err != nil {
			return // the browser is gone
		}
		var m message
		if err := json.Unmarshal(line[:len(line)-1], &m); err != nil {
			continue
		}
		b.mu.Lock()
		if c := b.waiting[m.ID]; c != nil {
			delete(b.waiting, m.ID)
			c <- m
		} else {
			b.events = append(b.events, m)
			close(b.arrived)
			b.arrived = make(chan struct{})
		}
		b.mu.Unlock()
	}
}

// call sends a command and waits for its answer, which it reads into out.
func (b *browser) call(session, method string, params, out any) {
	b.t.Helper()
	if err := b.try(session, method, params, out); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

func (b *browser) try(session, method string, params, out any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if params == nil {
		raw = []byte("{}")
	}
	answer := make(chan message, 1)
	b.mu.Lock()
	b.last++
	m := message{ID: b.last, Session: session, Method: method, Params: raw}
	b.waiting[m.ID] = answer
	b.mu.Unlock()
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if _, err := b.write.Write(append(line, 0)); err != nil {
		return err
	}
	select {
	case a := <-answer:
		if a.Error != nil {
			return errors.New(a.Error.Message)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(a.Result, out)
	case <-time.After(patience):
		return errors.New("no answer")
	}
}

// wait waits for an event of a session.
func (b *browser) wait(session, method string) {
	b.t.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		arrived := b.arrived
		b.mu.Unlock()
		if len(b.seen(session, method)) > 0 {
			return
		}
		select {
		case <-arrived:
		case <-deadline:
			b.t.Fatalf("%s didn't come", method)
		}
	}
}

// seen are the events of a session so far.
func (b *browser) seen(session, method string) []json.RawMessage {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []json.RawMessage
	for _, m := range b.events {
		if m.Session == session && m.Method == method {
			all = append(all, m.Params)
		}
	}
	return all
}

// tab is one open page.
type tab struct {
	*browser
	session string
}

// params are a command's.
type params map[string]any

// open opens a file with a window of that width, in light or dark.
func (b *browser) open(path, scheme string, width int) *tab {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", params{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", params{"targetId": target.TargetID, "flatten": true}, &attached)
	p := &tab{b, attached.SessionID}
	for _, domain := range []string{"Page", "Network", "Runtime", "Log", "Accessibility"} {
		p.do(domain+".enable", nil, nil)
	}
	p.do("Emulation.setDeviceMetricsOverride", params{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	p.media("screen", scheme)
	p.do("Page.navigate", params{"url": "file://" + path}, nil)
	b.wait(p.session, "Page.loadEventFired")
	return p
}

func (p *tab) do(method string, in params, out any) {
	p.t.Helper()
	p.call(p.session, method, in, out)
}

// media pretends to be a screen or a printer, in light or dark.
func (p *tab) media(kind, scheme string) {
	p.t.Helper()
	p.do("Emulation.setEmulatedMedia", params{"media": kind, "features": []params{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// eval runs a script in the page and reads what it returns into out.
func (p *tab) eval(script string, out any) {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	p.do("Runtime.evaluate", params{"expression": script, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		p.t.Fatalf("script: %s", answer.ExceptionDetails.Text)
	}
	if err := json.Unmarshal(answer.Result.Value, out); err != nil {
		p.t.Fatal(fmt.Errorf("script: %w", err))
	}
}
