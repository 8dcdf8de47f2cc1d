//go:build e2e

package manifests

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/windows/winsvc"
	"github.com/winbake/winbake/test/wine/winenode"
)

// node is a Wine node with csi-proxy 1.1.3 in place, and our scripts. Wine
// has no `sc config`, stores no recovery actions, and its cmd.exe can't compare
// texts that hold quotes: what is shown here is the script's way through, and
// that a service comes to run.
type node struct {
	*winenode.Node
	t *testing.T
}

func newNode(t *testing.T) node {
	t.Helper()
	n := node{winenode.Start(t, winenode.Options{}), t}
	n.Put(t, winenode.Built(t, "examples/openshift-4.15/versions.yaml", "csi-proxy"), `C:\k\csi-proxy.exe`)
	n.script("setup.cmd", SC, winsvc.CSIProxy())
	n.script("undo.cmd", UndoSC, winsvc.CSIProxy())
	return n
}

func (n node) script(name string, write func([]winsvc.Service) ([]byte, error), s winsvc.Service) {
	n.t.Helper()
	text, err := write([]winsvc.Service{s})
	if err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.C(), name), text, 0o644); err != nil {
		n.t.Fatal(err)
	}
}

// cmd runs a script and returns its outputs and exit code.
func (n node) cmd(args ...string) (stdout, stderr string, code int) {
	n.t.Helper()
	out, err := n.Wine(n.t.Context(), append([]string{"cmd", "/c"}, args...)...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), err.Error(), exit.ExitCode()
	}
	if err != nil {
		n.t.Fatalf("%v: %v", args, err)
	}
	return string(out), "", 0
}

func (n node) runs(want int) {
	n.t.Helper()
	all, err := n.Processes("csi-proxy.exe")
	if err != nil || len(all) != want {
		n.t.Errorf("%d csi-proxy processes, %v; want %d", len(all), err, want)
	}
}

func (n node) pid() int {
	n.t.Helper()
	all, err := n.Processes("csi-proxy.exe")
	if err != nil || len(all) != 1 {
		n.t.Fatalf("%d csi-proxy processes, %v; want 1", len(all), err)
	}
	return all[0].PID
}

func TestScriptOnWine(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	if out, trouble, code := n.cmd(`C:\setup.cmd`); code != 0 || !strings.Contains(out, "csi-proxy: set up and running") {
		t.Fatalf("%d\n%s\n%s", code, out, trouble)
	}
	first := n.pid()
	if out, trouble, code := n.cmd("reg", "query", `HKLM\SYSTEM\CurrentControlSet\Services\csi-proxy`, "/v", "ImagePath"); !strings.Contains(out, winsvc.CSIProxy().Command()+"\r\n") {
		t.Errorf("%d\n%s\n%s", code, out, trouble)
	}
	if log, err := filepath.Glob(filepath.Join(n.C(), "var/log/csi-proxy/csi-proxy.log")); err != nil || len(log) != 1 {
		t.Errorf("%v, %v", log, err)
	}
	// Again: it is right and runs, so it is left alone.
	if out, trouble, code := n.cmd(`C:\setup.cmd`); code != 0 || !strings.Contains(out, "csi-proxy: set up and running") {
		t.Fatalf("%d\n%s\n%s", code, out, trouble)
	}
	if again := n.pid(); again != first {
		t.Errorf("process %d was replaced by %d", first, again)
	}
	for _, want := range []string{"csi-proxy: removed", "csi-proxy: isn't there"} {
		if out, trouble, code := n.cmd(`C:\undo.cmd`); code != 0 || !strings.Contains(out, want) {
			t.Fatalf("%d\n%s\n%s", code, out, trouble)
		}
		n.runs(0)
	}
	if _, err := os.Stat(filepath.Join(n.C(), "var/log/csi-proxy/csi-proxy.log")); err != nil {
		t.Errorf("the log is gone: %v", err)
	}
	// And from the start, with a stopped process of before in the way.
	if out, trouble, code := n.cmd(`C:\setup.cmd`); code != 0 || !strings.Contains(out, "csi-proxy: set up and running") {
		t.Fatalf("%d\n%s\n%s", code, out, trouble)
	}
	if out, _, code := n.cmd("sc.exe", "stop", "csi-proxy"); code != 0 {
		t.Fatalf("%s", out)
	}
	if out, trouble, code := n.cmd(`C:\setup.cmd`); code != 0 {
		t.Fatalf("%d\n%s\n%s", code, out, trouble)
	}
	n.pid()
}

func TestScriptRefusesOnWine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(node)
		args    []string
		want    string
		after   string // what sc.exe query csi-proxy says
	}{
		"no program":      {func(n node) { _ = os.Remove(filepath.Join(n.C(), "k/csi-proxy.exe")) }, nil, `"C:\k\csi-proxy.exe" isn't on this node`, ""},
		"log is a file":   {func(n node) { n.write("var/log/csi-proxy") }, nil, `the folder "C:\var\log\csi-proxy" can't be made`, ""},
		"foreign service": {func(n node) { n.create("csi-proxy", `C:\other\csi-proxy.exe`) }, nil, `doesn't run "C:\k\csi-proxy.exe"`, "STOPPED"},
		"second owner":    {func(n node) { n.create("csiproxy", `C:\k\csi-proxy.exe`) }, nil, "two of them fight for the same pipes", ""},
		"WMCO's node":     {func(n node) { n.create(winsvc.WICDName, `C:\k\wicd.exe`) }, nil, "WMCO manages this node", ""},
		"WMCO, forced":    {func(n node) { n.create(winsvc.WICDName, `C:\k\wicd.exe`) }, []string{"/force"}, "", "RUNNING"},
		"unknown flag": {func(n node) {
			s := winsvc.CSIProxy()
			s.Arguments = append(s.Arguments, "-shiny")
			n.script("setup.cmd", SC, s)
		}, nil, "is set up and doesn't run", "STOPPED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t)
			c.arrange(n)
			out, trouble, code := n.cmd(append([]string{`C:\setup.cmd`}, c.args...)...)
			if c.want == "" && code != 0 || c.want != "" && (code != 1 || !strings.Contains(trouble, c.want) || !strings.Contains(trouble, "fix: ") || strings.Count(trouble, "error: ") != 1) {
				t.Errorf("%d, want %q\n%s\n%s", code, c.want, out, trouble)
			}
			if out, _, code := n.cmd("sc.exe", "query", "csi-proxy"); !strings.Contains(out, c.after) || (code == 0) != (c.after != "") {
				t.Errorf("%d, want %q: %s", code, c.after, out)
			}
		})
	}
}

func (n node) write(path string) {
	n.t.Helper()
	path = filepath.Join(n.C(), path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n node) create(name, path string) {
	n.t.Helper()
	if out, trouble, code := n.cmd("sc.exe", "create", name, "binPath=", path, "start=", "demand"); code != 0 {
		n.t.Fatalf("%d\n%s\n%s", code, out, trouble)
	}
}
