package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// testNode is a node on a folder of the host.
type testNode struct {
	t    *testing.T
	root string
	dirs Dirs
	*fakeNode
}

func newTestNode(t *testing.T) *testNode {
	t.Helper()
	root := t.TempDir()
	w := &testNode{t: t, root: root, dirs: Dirs{State: filepath.Join(root, "state"), Stage: filepath.Join(root, "stage")}, fakeNode: newFakeNode()}
	w.names["csi-proxy"] = []string{`\\.\pipe\csi-proxy-disk-v1`, `\\.\pipe\csi-proxy-volume-v1`}
	return w
}

var quickly = Times{Stop: 50 * time.Millisecond, Start: 100 * time.Millisecond}

// request asks for a csi-proxy and a file next to it, with these contents, and
// stages them.
func (w *testNode) request(verb Verb, proxy, other string) *Request {
	w.t.Helper()
	s := winsvc.CSIProxy("disk-v1", "volume-v1")
	s.Path = filepath.Join(w.root, "k", "csi-proxy.exe")
	s.LogDirectory = filepath.Join(w.root, "var", "log", "csi-proxy")
	e := &node.Expectation{Services: []node.Service{{Service: s}}}
	for path, content := range map[string]string{s.Path: proxy, filepath.Join(w.root, "k", "deep", "Ä b'c.toml"): other} {
		if content == "" {
			continue
		}
		e.Files = append(e.Files, node.File{Path: path, SHA256: sumOf(content), Size: int64(len(content))})
		w.stage(content, sumOf(content))
	}
	return &Request{Protocol: node.Protocol, Verb: verb, Reference: "sha256:" + sumOf(proxy + other)[:12], Expectation: e, Times: quickly}
}

func sumOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func (w *testNode) stage(content, name string) {
	w.t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err == nil {
		_, err = z.Write([]byte(content))
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.MkdirAll(w.dirs.Stage, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dirs.Stage, name+StagedSuffix), b.Bytes(), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *testNode) apply(req *Request) (*Result, error) {
	return Apply(w.t.Context(), w.fakeNode, w.dirs, req, func(string) {})
}

func (w *testNode) must(req *Request) *Result {
	w.t.Helper()
	r, err := w.apply(req)
	if err != nil {
		w.t.Fatalf("%s: %v", req.Verb, err)
	}
	return r
}

// snapshot is every file, but what was staged and the agent's own, and every
// service.
func (w *testNode) snapshot() string {
	w.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(w.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == w.dirs.Stage || p == w.dirs.State {
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
	r := w.must(w.request(Install, "good 1", "config 1"))
	if !r.Changed || r.Installed != 2 || w.services["csi-proxy"] == nil || w.services["csi-proxy"].pid == 0 {
		t.Fatalf("%+v\n%s", r, w)
	}
	installed := w.snapshot()
	if r := w.must(w.request(Install, "good 1", "config 1")); r.Changed || w.snapshot() != installed {
		t.Errorf("a second run changed something: %+v", r)
	}
	pid := w.services["csi-proxy"].pid
	if r := w.must(w.request(Upgrade, "good 1", "config 2")); r.Replaced != 1 || w.services["csi-proxy"].pid != pid {
		t.Errorf("another's file restarted the service: %+v", r)
	}
	if r := w.must(w.request(Upgrade, "good 2", "config 2")); r.Replaced != 1 || w.services["csi-proxy"].pid == pid {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(filepath.Join(w.root, "var/log/csi-proxy/csi-proxy.log"), []byte("log"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := w.must(&Request{Protocol: node.Protocol, Verb: Remove, Times: quickly}); r.Removed != 2 {
		t.Errorf("%+v", r)
	}
	if got := w.snapshot(); got != empty {
		t.Errorf("remove left\n%s", got)
	}
	if _, err := os.Stat(w.dirs.State); err == nil {
		t.Error("remove left the state folder")
	}
	if r := w.must(&Request{Protocol: node.Protocol, Verb: Remove, Times: quickly}); r.Changed {
		t.Errorf("a second removal: %+v", r)
	}
}

// A machine that an image is made of may have the service or not, running or
// not: what it should be is the same.
func TestSettle(t *testing.T) {
	w := newTestNode(t)
	if r := w.must(w.request(Settle, "good 1", "config 1")); r.Installed != 2 || w.services["csi-proxy"] == nil {
		t.Fatalf("%+v\n%s", r, w)
	}
	pid := w.services["csi-proxy"].pid
	if r := w.must(w.request(Settle, "good 2", "config 1")); r.Replaced != 1 || w.services["csi-proxy"].pid == pid {
		t.Errorf("%+v", r)
	}
}

// What people read of a service is changed while it runs; its process sees
// other variables only when it is started again. On a node of WMCO's the
// description is the operator's.
func TestSettingsThatChange(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(*winsvc.Service)
		managed  bool
		restarts bool
		want     string
	}{
		"description":         {func(s *winsvc.Service) { s.Description = "new words" }, false, false, `"new words"`},
		"display":             {func(s *winsvc.Service) { s.Display = "New Name" }, false, false, `"New Name"`},
		"managed description": {func(s *winsvc.Service) { s.Description = "new words" }, true, false, `"Storage operations`},
		"environment":         {func(s *winsvc.Service) { s.Environment = map[string]string{"B": "2", "A": "1"} }, false, true, `["A=1" "B=2"]`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestNode(t)
			w.must(w.request(Install, "good 1", ""))
			if c.managed {
				w.services[winsvc.WICDName] = w.services["csi-proxy"].copy()
				w.services[winsvc.WICDName].settings.Command = node.Say(`C:\k\wicd.exe`)
			}
			pid := w.services["csi-proxy"].pid
			req := w.request(Upgrade, "good 1", "")
			req.Reference, req.Managed = "sha256:another", c.managed
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

// A start type that leaves the start to others is heeded: the service is set
// up, and what ran runs again.
func TestServicesThatAreNotStarted(t *testing.T) {
	for name, c := range map[string]struct {
		start         winsvc.Start
		managed, runs bool // before the upgrade, by somebody's hand
		first, then   bool // whether it runs after the install, and the upgrade
	}{
		"manual":           {winsvc.StartManual, false, false, false, false},
		"manual, and runs": {winsvc.StartManual, false, true, false, true},
		"manual, of WMCO":  {winsvc.StartManual, true, false, true, true},
		"disabled":         {winsvc.StartDisabled, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestNode(t)
			if c.managed {
				w.services[winsvc.WICDName] = &fakeService{settings: wanted(node.Service{Service: winsvc.Service{Name: winsvc.WICDName, Path: `C:\k\wicd.exe`, Start: winsvc.StartAutomatic}})}
			}
			request := func(verb Verb, program string) *Request {
				r := w.request(verb, program, "")
				r.Managed, r.Expectation.Services[0].Start = c.managed, c.start
				return r
			}
			check := func(runs bool) {
				t.Helper()
				if (w.services["csi-proxy"].pid != 0) != runs {
					t.Errorf("it should run: %t\n%s", runs, w)
				}
			}
			w.must(request(Install, "good 1"))
			check(c.first)
			if r := w.must(request(Install, "good 1")); r.Changed {
				t.Errorf("once more: %+v", r)
			}
			if c.runs {
				if err := w.Start("csi-proxy"); err != nil {
					t.Fatal(err)
				}
			}
			w.must(request(Upgrade, "good 2"))
			check(c.then)
		})
	}
}

func TestInstallBringsBackWhatWasKilled(t *testing.T) {
	w := newTestNode(t)
	w.must(w.request(Install, "good 1", "config"))
	want := w.snapshot()
	w.kill("csi-proxy")
	if r := w.must(w.request(Install, "good 1", "config")); !r.Changed || w.snapshot() != want {
		t.Errorf("%+v\n%s", r, w.snapshot())
	}
}

// What depends on the service is stopped first and runs afterwards, whether the
// upgrade went well or was put back.
func TestDependentsAreStoppedAndStarted(t *testing.T) {
	for _, program := range []string{"good 2", "broken"} {
		w := newTestNode(t)
		w.must(w.request(Install, "good 1", "config"))
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
		_, err := w.apply(w.request(Upgrade, program, "config"))
		if (err == nil) != (program == "good 2") {
			t.Errorf("%s: %v", program, err)
		}
		if driver.pid == before || driver.pid == 0 {
			t.Errorf("%s: the driver's process was %d and is %d", program, before, driver.pid)
		}
	}
}

// A refusal leaves nothing on a node that had nothing, and an upload that
// belongs to somebody else's change stays until it is old.
func TestWhatIsLeftBehind(t *testing.T) {
	w := newTestNode(t)
	w.rivalOf(w.request(Install, "good 1", ""))
	if _, err := w.apply(w.request(Install, "good 1", "")); err == nil {
		t.Error("a second owner was set up")
	}
	if _, err := os.Stat(w.dirs.State); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refusal left the state folder: %v", err)
	}
	delete(w.services, "csiproxy")
	w.stage("another's", sumOf("another's"))
	w.stage("forgotten", sumOf("forgotten"))
	long := time.Now().Add(-2 * stale)
	if err := os.Chtimes(filepath.Join(w.dirs.Stage, sumOf("forgotten")+StagedSuffix), long, long); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]time.Time{"verify-old.exe": long, "expect-old.json": long, "verify-new.exe": time.Now(), "request-new.json": time.Now()} {
		path := filepath.Join(w.root, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	w.must(w.request(Install, "good 1", ""))
	for name, there := range map[string]bool{"verify-old.exe": false, "expect-old.json": false, "verify-new.exe": true, "request-new.json": true} {
		if _, err := os.Stat(filepath.Join(w.root, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := staged(w.dirs); len(got) != 1 || got[0] != sumOf("another's")+StagedSuffix {
		t.Errorf("staged is %q", got)
	}
}

// A check that was cut off goes with a later one; one that may be under way
// stays, and so does what isn't a check's.
func TestChecksThatWereCutOff(t *testing.T) {
	dir := t.TempDir()
	long := time.Now().Add(-2 * stale)
	for name, at := range map[string]time.Time{CheckPrefix + "old": long, CheckPrefix + "new": time.Now(), ".winbake": long} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.Mkdir(path, 0o755), os.WriteFile(filepath.Join(path, "verify.exe"), nil, 0o644), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	TidyChecks(dir)
	for name, there := range map[string]bool{CheckPrefix + "old": false, CheckPrefix + "new": true, ".winbake": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
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
	w.must(w.request(Install, "good 1", "config"))
	r := w.must(w.request(Upgrade, "good 2", "config"))
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
		"damaged upload": {nil, func(w *testNode) *Request {
			r := w.request(Upgrade, "good 2", "config 2")
			w.stage("good 3", sumOf("good 2"))
			return r
		}, "damaged on the way"},
		"truncated upload": {nil, func(w *testNode) *Request {
			r := w.request(Upgrade, "good 2", "config 2")
			truncate(w, sumOf("good 2"))
			return r
		}, "damaged on the way"},
		"nothing uploaded": {nil, func(w *testNode) *Request { r := w.request(Upgrade, "good 2", "config 2"); w.unstage(); return r }, "wasn't uploaded"},
		"no space":         {func(w *testNode) { w.free = 1000 }, upgradeTo("good 2"), "MB free"},
		"no space after all": {nil, func(w *testNode) *Request {
			r := upgradeTo("good 2")(w)
			return r.onFullDisk(w)
		}, "the node's disk is full"},
		"read-only":        {func(w *testNode) { w.readOnly = filepath.Join(w.root, "k", "csi-proxy.exe") }, upgradeTo("good 2"), "read-only"},
		"no administrator": {func(w *testNode) { w.notAdmin = true }, upgradeTo("good 2"), "no administrator"},
		"foreign service":  {func(w *testNode) { w.services["csi-proxy"].settings.Command = node.Say(`C:\other\csi-proxy.exe -x`) }, upgradeTo("good 2"), `C:\other\csi-proxy.exe`},
		"second owner":     {func(w *testNode) { w.rival() }, upgradeTo("good 2"), "csiproxy"},
		"WMCO's node":      {func(w *testNode) { w.services[winsvc.WICDName] = w.services["csi-proxy"].copy() }, upgradeTo("good 2"), "WMCO manages this node"},
		"in use": {func(w *testNode) { w.strays = []Process{{7, filepath.Join(w.root, "k", "deep", "Ä b'c.toml")}} },
			upgradeTo("good 2"), "process 7 runs it"},
		"marked for deletion": {func(w *testNode) { delete(w.services, "csi-proxy"); clear(w.pipes); w.marked = true },
			func(w *testNode) *Request { return w.request(Install, "good 2", "config 2") }, "marked for deletion"},
		"marked, and still listed": {func(w *testNode) { w.services["csi-proxy"].pid = 0; clear(w.pipes); w.marked = true },
			func(w *testNode) *Request { return w.request(Install, "good 1", "config") }, "marked for deletion"},
		"marked, and runs": {func(w *testNode) { w.marked = true }, upgradeTo("good 2"), "marked for deletion"},
		"marked, and to go": {func(w *testNode) { w.marked = true },
			func(*testNode) *Request { return &Request{Protocol: node.Protocol, Verb: Remove, Times: quickly} }, "marked for deletion"},
		"a pipe that stays":   {func(w *testNode) { w.stuckPipe() }, upgradeTo("good 2"), "is still served"},
		"install over others": {nil, func(w *testNode) *Request { return w.request(Install, "good 2", "config") }, "another program"},
		"upgrade of nothing":  {func(w *testNode) { delete(w.services, "csi-proxy"); clear(w.pipes) }, upgradeTo("good 2"), "isn't there to be upgraded"},
		"other protocol":      {nil, func(w *testNode) *Request { r := w.request(Upgrade, "good 2", ""); r.Protocol++; return r }, "protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestNode(t)
			w.must(w.request(Install, "good 1", "config"))
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
			if interrupted, _ := state(w.dirs); interrupted != "" {
				t.Errorf("a journal is left: %s", interrupted)
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
	return func(w *testNode) *Request { return w.request(Upgrade, proxy, "config 2") }
}

func (w *testNode) unstage() {
	if err := os.RemoveAll(w.dirs.Stage); err != nil {
		w.t.Fatal(err)
	}
}

func truncate(w *testNode, sum string) {
	if err := os.Truncate(filepath.Join(w.dirs.Stage, sum+StagedSuffix), 9); err != nil {
		w.t.Fatal(err)
	}
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

func TestManagedNodeWhenTold(t *testing.T) {
	w := newTestNode(t)
	w.services[winsvc.WICDName] = &fakeService{settings: wanted(node.Service{Service: winsvc.Service{Name: winsvc.WICDName, Path: `C:\k\wicd.exe`, Start: winsvc.StartAutomatic}})}
	req := w.request(Install, "good 1", "config")
	if _, err := w.apply(req); err == nil {
		t.Error("it was changed without being told to")
	}
	req.Managed = true
	w.must(req)
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
	c := &change{sys: w.fakeNode, dirs: w.dirs, times: req.Times, say: func(string) {}, result: &Result{}}
	c.step = func() {
		if n--; n < 0 {
			panic(cut{})
		}
	}
	if err := os.MkdirAll(w.dirs.State, 0o755); err != nil {
		w.t.Fatal(err)
	}
	_, _ = c.apply(w.t.Context(), req)
	return true
}

// Cut short at every point, and run again, each request ends as if it had
// never been cut; and when the next one is cut too, and when it is the
// rollback that is cut.
func TestCutAtEveryPointAndRunAgain(t *testing.T) {
	start := func(w *testNode) { w.must(w.request(Install, "good 1", "config 1")) }
	for name, c := range map[string]struct {
		before func(*testNode)
		req    func(*testNode) *Request
	}{
		"install": {func(*testNode) {}, func(w *testNode) *Request { return w.request(Install, "good 1", "config 1") }},
		"upgrade": {start, upgradeTo("good 2")},
		"broken":  {start, upgradeTo("broken")},
		"remove":  {start, func(*testNode) *Request { return &Request{Protocol: node.Protocol, Verb: Remove, Times: quickly} }},
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
				if interrupted, _ := state(w.dirs); interrupted != "" {
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
	w.must(w.request(Install, "good 1", "config 1"))
	before := w.snapshot()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Apply(ctx, w.fakeNode, w.dirs, w.request(Upgrade, "good 2", "config 2"), func(s string) {
		if strings.HasPrefix(s, "stopping") {
			cancel()
		}
	})
	if err == nil {
		t.Fatal("nothing was interrupted")
	}
	if got := w.snapshot(); got != before {
		t.Errorf("%v\nbefore:\n%safter:\n%s", err, before, got)
	}
}

func TestRemoveKeepsWhatIsNotOurs(t *testing.T) {
	w := newTestNode(t)
	w.must(w.request(Install, "good 1", "config 1"))
	theirs := filepath.Join(w.root, "k", "deep", "Ä b'c.toml")
	if err := os.WriteFile(theirs, []byte("edited"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := w.must(&Request{Protocol: node.Protocol, Verb: Remove, Times: quickly})
	if data, err := os.ReadFile(theirs); err != nil || string(data) != "edited" || len(r.Notes) != 1 {
		t.Errorf("%q, %v, notes %q", data, err, r.Notes)
	}
}
