package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// testNode is a node on a folder of the host.
type testNode struct {
	t    *testing.T
	root string
	dir  Dir
	*fakeNode
}

func newTestNode(t *testing.T) *testNode {
	t.Helper()
	root := t.TempDir()
	w := &testNode{t: t, root: root, dir: Dir(filepath.Join(root, "state")), fakeNode: newFakeNode()}
	w.names["csi-proxy"] = []string{`\\.\pipe\csi-proxy-disk-v1`, `\\.\pipe\csi-proxy-volume-v1`}
	return w
}

// payload has the content of each file by its sum.
type payload map[string]string

func (p payload) Each(_ context.Context, files []node.File, take func(node.File, io.Reader) error) error {
	for _, f := range files {
		if err := take(f, strings.NewReader(p[f.SHA256])); err != nil {
			return err
		}
	}
	return nil
}

// request asks for a csi-proxy and a file next to it, with these contents.
func (w *testNode) request(proxy, other string) *Request {
	w.t.Helper()
	s := winsvc.CSIProxy("disk-v1", "volume-v1")
	s.Path = filepath.Join(w.root, "k", "csi-proxy.exe")
	s.LogDirectory = filepath.Join(w.root, "var", "log", "csi-proxy")
	r := w.removal()
	r.Reference = "sha256:" + sumOf(proxy + other)[:12]
	r.Expectation = &node.Expectation{Services: []node.Service{{Service: s}}}
	p := payload{}
	r.Files = p
	for path, content := range map[string]string{s.Path: proxy, filepath.Join(w.root, "k", "deep", "Ä b'c.toml"): other} {
		if content == "" {
			continue
		}
		r.Expectation.Files = append(r.Expectation.Files, node.File{Path: path, SHA256: sumOf(content), Size: int64(len(content))})
		p[sumOf(content)] = content
	}
	return r
}

func (*testNode) removal() *Request {
	return &Request{Stop: 50 * time.Millisecond, Start: 100 * time.Millisecond, Say: func(string) {}}
}

func sumOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (w *testNode) apply(req *Request) (*Result, error) {
	return Apply(w.t.Context(), w.fakeNode, w.dir, req)
}

func (w *testNode) must(req *Request) *Result {
	w.t.Helper()
	r, err := w.apply(req)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// snapshot is every file but the agent's own, and every service.
func (w *testNode) snapshot() string {
	w.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == string(w.dir) {
			if d != nil && d.IsDir() && err == nil {
				return fs.SkipDir
			}
			return err
		}
		content := ""
		if d.Type().IsRegular() {
			data, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			content = string(data)
		}
		fmt.Fprintf(&b, "%s %q\n", strings.TrimPrefix(p, w.root), content)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b.String() + w.String()
}

func TestInstallUpgradeRemove(t *testing.T) {
	w := newTestNode(t)
	empty := w.snapshot()
	r := w.must(w.request("good 1", "config 1"))
	if !r.Changed || r.Installed != 2 || w.services["csi-proxy"] == nil || w.services["csi-proxy"].pid == 0 {
		t.Fatalf("%+v\n%s", r, w)
	}
	installed := w.snapshot()
	if r := w.must(w.request("good 1", "config 1")); r.Changed || w.snapshot() != installed {
		t.Errorf("a second run changed something: %+v", r)
	}
	pid := w.services["csi-proxy"].pid
	if r := w.must(w.request("good 1", "config 2")); r.Replaced != 1 || w.services["csi-proxy"].pid != pid {
		t.Errorf("another's file restarted the service: %+v", r)
	}
	if r := w.must(w.request("good 2", "config 2")); r.Replaced != 1 || w.services["csi-proxy"].pid == pid {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(filepath.Join(w.root, "var/log/csi-proxy/csi-proxy.log"), []byte("log"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := w.must(w.removal()); r.Removed != 2 {
		t.Errorf("%+v", r)
	}
	if got := w.snapshot(); got != empty {
		t.Errorf("remove left\n%s", got)
	}
	if _, err := os.Stat(string(w.dir)); err == nil {
		t.Error("remove left the state folder")
	}
	if r := w.must(w.removal()); r.Changed {
		t.Errorf("a second removal: %+v", r)
	}
}

// What people read of a service is changed while it runs; its process sees
// other variables only when it is started again.
func TestSettingsThatChange(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*winsvc.Service)
		restarts bool
		want     string
	}{
		"description": {func(s *winsvc.Service) { s.Description = "new words" }, false, `"new words"`},
		"display":     {func(s *winsvc.Service) { s.Display = "New Name" }, false, `"New Name"`},
		"environment": {func(s *winsvc.Service) { s.Environment = map[string]string{"B": "2", "A": "1"} }, true, `["A=1" "B=2"]`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestNode(t)
			w.must(w.request("good 1", ""))
			pid := w.services["csi-proxy"].pid
			req := w.request("good 1", "")
			req.Reference = "sha256:another"
			c.change(&req.Expectation.Services[0].Service)
			w.must(req)
			if !strings.Contains(w.String(), c.want) || (w.services["csi-proxy"].pid != pid) != c.restarts {
				t.Errorf("want %s, a restart: %t; process was %d\n%s", c.want, c.restarts, pid, w)
			}
			if r := w.must(req); r.Changed {
				t.Errorf("once more: %+v", r)
			}
		})
	}
}

// A start type that leaves the start to others is respected: the service is set
// up, and what ran runs again.
func TestServicesThatAreNotStarted(t *testing.T) {
	for name, c := range map[string]struct {
		start       winsvc.Start
		runs        bool // before the upgrade, started by a user
		first, then bool // whether it runs after the install, and the upgrade
	}{
		"manual":           {winsvc.StartManual, false, false, false},
		"manual, and runs": {winsvc.StartManual, true, false, true},
		"disabled":         {winsvc.StartDisabled, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestNode(t)
			request := func(program string) *Request {
				r := w.request(program, "")
				r.Expectation.Services[0].Start = c.start
				return r
			}
			check := func(runs bool) {
				t.Helper()
				if (w.services["csi-proxy"].pid != 0) != runs {
					t.Errorf("it should run: %t\n%s", runs, w)
				}
			}
			w.must(request("good 1"))
			check(c.first)
			if r := w.must(request("good 1")); r.Changed {
				t.Errorf("once more: %+v", r)
			}
			if c.runs {
				if err := w.Start("csi-proxy"); err != nil {
					t.Fatal(err)
				}
			}
			w.must(request("good 2"))
			check(c.then)
		})
	}
}

func TestInstallBringsBackWhatWasKilled(t *testing.T) {
	w := newTestNode(t)
	w.must(w.request("good 1", "config"))
	want := w.snapshot()
	w.kill("csi-proxy")
	if r := w.must(w.request("good 1", "config")); !r.Changed || w.snapshot() != want {
		t.Errorf("%+v\n%s", r, w.snapshot())
	}
}

// What depends on the service is stopped first and runs afterwards, whether the
// upgrade went well or was put back.
func TestDependentsAreStoppedAndStarted(t *testing.T) {
	for _, program := range []string{"good 2", "broken"} {
		w := newTestNode(t)
		w.must(w.request("good 1", "config"))
		driver := w.services["csi-proxy"].copy()
		deps, path := []string{"csi-proxy"}, filepath.Join(w.root, "driver.exe")
		if err := os.WriteFile(path, []byte("good driver"), 0o644); err != nil {
			t.Fatal(err)
		}
		driver.settings.Name, driver.settings.Command, driver.settings.Dependencies, driver.pid = "driver", node.Say(path), node.Say(deps), 0
		w.services["driver"] = driver
		if err := w.Start("driver"); err != nil {
			t.Fatal(err)
		}
		before := driver.pid
		_, err := w.apply(w.request(program, "config"))
		if (err == nil) != (program == "good 2") {
			t.Errorf("%s: %v", program, err)
		}
		if driver.pid == before || driver.pid == 0 {
			t.Errorf("%s: the driver's process was %d and is %d", program, before, driver.pid)
		}
	}
}

// A refusal leaves nothing on a node that had nothing.
func TestRefusalLeavesNothing(t *testing.T) {
	w := newTestNode(t)
	w.rivalOf(w.request("good 1", ""))
	if _, err := w.apply(w.request("good 1", "")); err == nil {
		t.Error("a second owner was set up")
	}
	if _, err := os.Stat(string(w.dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refusal left the state folder: %v", err)
	}
}

func (w *testNode) rivalOf(r *Request) {
	s := wanted(r.Expectation.Services[0])
	s.Name = "csiproxy"
	w.services["csiproxy"] = &fakeService{settings: full(s)}
}

func TestStubbornProcessIsEnded(t *testing.T) {
	w := newTestNode(t)
	w.stubborn = true
	w.must(w.request("good 1", "config"))
	r := w.must(w.request("good 2", "config"))
	if len(w.strays) != 0 || !strings.Contains(strings.Join(r.Notes, " "), "outlived its stop") {
		t.Errorf("%v, %q", w.strays, r.Notes)
	}
}

// Whatever goes wrong, the error is a person's and the node is as it was.
func TestFailuresPutEverythingBack(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*testNode)
		req   func(*testNode) *Request
		want  string
	}{
		"broken program": {nil, upgradeTo("broken"), "doesn't serve"},
		"damaged payload": {nil, func(w *testNode) *Request {
			r := w.request("good 2", "config 2")
			r.Files.(payload)[sumOf("good 2")] = "good 3"
			return r
		}, "is damaged"},
		"truncated payload": {nil, func(w *testNode) *Request {
			r := w.request("good 2", "config 2")
			r.Files.(payload)[sumOf("config 2")] = "con"
			return r
		}, "is damaged"},
		"unreadable payload": {nil, func(w *testNode) *Request {
			r := w.request("good 2", "config 2")
			r.Files = unreadable{}
			return r
		}, "can't be read: no such blob"},
		"no space": {nil, func(w *testNode) *Request {
			r := upgradeTo("good 2")(w)
			return r.onFullDisk(w)
		}, "no space left on device"},
		"no administrator": {func(w *testNode) { w.notAdmin = true }, upgradeTo("good 2"), "no administrator"},
		"foreign service":  {func(w *testNode) { w.services["csi-proxy"].settings.Command = node.Say(`C:\other\csi-proxy.exe -x`) }, upgradeTo("good 2"), `C:\other\csi-proxy.exe`},
		"second owner":     {func(w *testNode) { w.rival() }, upgradeTo("good 2"), "csiproxy"},
		"WMCO's node":      {func(w *testNode) { w.services[winsvc.WICDName] = w.services["csi-proxy"].copy() }, upgradeTo("good 2"), "WMCO manages this node"},
		"in use": {func(w *testNode) { w.strays = []Process{{7, filepath.Join(w.root, "k", "deep", "Ä b'c.toml")}} },
			upgradeTo("good 2"), "process 7 runs it"},
		"marked for deletion": {func(w *testNode) { delete(w.services, "csi-proxy"); clear(w.pipes); w.marked = true },
			func(w *testNode) *Request { return w.request("good 2", "config 2") }, "marked for deletion"},
		"marked, and still listed": {func(w *testNode) { w.services["csi-proxy"].pid = 0; clear(w.pipes); w.marked = true },
			func(w *testNode) *Request { return w.request("good 1", "config") }, "marked for deletion"},
		"marked, and runs": {func(w *testNode) { w.marked = true }, upgradeTo("good 2"), "marked for deletion"},
		"marked, and to go": {func(w *testNode) { w.marked = true },
			(*testNode).removal, "marked for deletion"},
		"a pipe that stays": {func(w *testNode) { w.stuckPipe() }, upgradeTo("good 2"), "is served by process 9"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestNode(t)
			w.must(w.request("good 1", "config"))
			if c.spoil != nil {
				c.spoil(w)
			}
			before := w.snapshot()
			stopped := w.stopped
			_, err := w.apply(c.req(w))
			if strings.HasPrefix(name, "marked") && w.stopped != stopped {
				t.Error("a service was stopped that can't be started again")
			}
			if f, ok := errors.AsType[*fault.Error](err); !ok || !strings.Contains(f.What, c.want) || f.Fix == "" {
				t.Errorf("got %v, want a fault with %q", err, c.want)
			}
			if got := w.snapshot(); got != before {
				t.Errorf("before:\n%safter:\n%s", before, got)
			}
			if left := interrupted(w.dir); left != "" {
				t.Errorf("a journal is left: %s", left)
			}
		})
	}
}

// onFullDisk gives each write of a new file the kernel's own answer of a disk
// that is full.
func (r *Request) onFullDisk(w *testNode) *Request {
	for _, f := range r.Expectation.Files {
		if err := os.Symlink("/dev/full", f.Path+newSuffix); err != nil {
			w.t.Fatal(err)
		}
	}
	return r
}

func upgradeTo(proxy string) func(*testNode) *Request {
	return func(w *testNode) *Request { return w.request(proxy, "config 2") }
}

// unreadable is a payload whose files can't be read.
type unreadable struct{}

func (unreadable) Each(_ context.Context, files []node.File, take func(node.File, io.Reader) error) error {
	return take(files[0], iotest.ErrReader(errors.New("no such blob")))
}

func (s *fakeService) copy() *fakeService { c := *s; return &c }

func (w *testNode) rival() {
	c := w.services["csi-proxy"].copy()
	c.settings.Name = "csiproxy"
	w.services["csiproxy"] = c
}

// stuckPipe leaves a pipe in a stranger's hands.
func (w *testNode) stuckPipe() {
	w.names["csi-proxy"] = w.names["csi-proxy"][:1]
	w.pipes[`\\.\pipe\csi-proxy-volume-v1`] = 9
	w.strays = append(w.strays, Process{9, "/elsewhere"})
}

// cut is what ends a change in the tests: nothing runs after it, as after a
// kill.
type cut struct{}

// applyUntil runs a request and cuts it short at its nth step. It tells
// whether the request came to an end before.
func (w *testNode) applyUntil(req *Request, n int) (ended bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(cut); !ok {
				panic(r)
			}
		}
	}()
	c := &change{Request: req, sys: w.fakeNode, dir: w.dir, result: &Result{}}
	c.step = func() {
		if n--; n < 0 {
			panic(cut{})
		}
	}
	if err := os.MkdirAll(string(w.dir), 0o755); err != nil {
		w.t.Fatal(err)
	}
	_ = c.apply(w.t.Context())
	return true
}

// Cut short at every point, and run again, each request ends as if it had
// never been cut; and when the next one is cut too, and when it is the
// rollback that is cut.
func TestCutAtEveryPointAndRunAgain(t *testing.T) {
	start := func(w *testNode) { w.must(w.request("good 1", "config 1")) }
	for name, c := range map[string]struct {
		before func(*testNode)
		req    func(*testNode) *Request
	}{
		"install": {func(*testNode) {}, func(w *testNode) *Request { return w.request("good 1", "config 1") }},
		"upgrade": {start, upgradeTo("good 2")},
		"broken":  {start, upgradeTo("broken")},
		"remove":  {start, (*testNode).removal},
	} {
		t.Run(name, func(t *testing.T) {
			whole := newTestNode(t)
			c.before(whole)
			_, _ = whole.apply(c.req(whole))
			want := normal(whole)
			for n := 0; ; n++ {
				w := newTestNode(t)
				c.before(w)
				if w.applyUntil(c.req(w), n) {
					if n < 4 {
						t.Fatalf("only %d steps", n)
					}
					return
				}
				w.applyUntil(c.req(w), n/2) // a second cut, often in the recovery
				_, _ = w.apply(c.req(w))
				if got := normal(w); got != want {
					t.Fatalf("cut at step %d, want\n%sgot\n%s", n, want, got)
				}
				if interrupted(w.dir) != "" {
					t.Fatalf("cut at step %d: a journal is left", n)
				}
			}
		})
	}
}

// normal is a snapshot without the folder's name.
func normal(w *testNode) string { return strings.ReplaceAll(w.snapshot(), w.root, "") }

// An ended context puts everything back too.
func TestInterruptedContextPutsBack(t *testing.T) {
	w := newTestNode(t)
	w.must(w.request("good 1", "config 1"))
	before := w.snapshot()
	ctx, cancel := context.WithCancel(t.Context())
	req := w.request("good 2", "config 2")
	req.Say = func(s string) {
		if strings.HasPrefix(s, "stopping") {
			cancel()
		}
	}
	_, err := Apply(ctx, w.fakeNode, w.dir, req)
	if err == nil {
		t.Fatal("nothing was interrupted")
	}
	if got := w.snapshot(); got != before {
		t.Errorf("%v\nbefore:\n%safter:\n%s", err, before, got)
	}
}

func TestRemoveKeepsWhatIsNotOurs(t *testing.T) {
	w := newTestNode(t)
	w.must(w.request("good 1", "config 1"))
	theirs := filepath.Join(w.root, "k", "deep", "Ä b'c.toml")
	if err := os.WriteFile(theirs, []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := w.must(w.removal())
	if data, err := os.ReadFile(theirs); err != nil || string(data) != "edited" || len(r.Notes) != 1 {
		t.Errorf("%q, %v, notes %q", data, err, r.Notes)
	}
}
