package node

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode"
)

func TestInstallCheckUpgradeRemove(t *testing.T) {
	old, current := image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)
	n := start(t)
	before := n.files()
	r := n.must("install", old)
	if !strings.Contains(r.stdout, "files installed: 1") || !strings.Contains(r.stdout, "csi-proxy started") {
		t.Errorf("install says %q", r.stdout)
	}
	n.healthy(old)
	n.finds(current, "WIN007", "WIN013")
	pid := n.proxies()[0].PID
	if r := n.must("install", old); !strings.Contains(r.stdout, "nothing to do") || n.proxies()[0].PID != pid {
		t.Errorf("a second install says %q", r.stdout)
	}
	n.state("before the upgrade")
	r = n.must("install", current, "-o", "json")
	if !strings.Contains(r.stdout, `"replaced": 1`) {
		t.Errorf("upgrade says %q", r.stdout)
	}
	n.healthy(current)
	if got := n.read(`C:\var\lib\kubelet\plugins\state`); got != "before the upgrade" {
		t.Errorf("the upgrade lost state: %q", got)
	}
	n.unstate()
	checkJSON(t, n.must("remove", "-o", "json").stdout)
	if left := n.proxies(); len(left) > 0 {
		t.Errorf("remove left %v", left)
	}
	for path := range n.files() {
		if !before[path] {
			t.Errorf("remove left %s", path)
		}
	}
	if out, err := n.Wine(t.Context(), "sc.exe", "query", "csi-proxy"); strings.Contains(string(out), "STATE") {
		t.Errorf("remove left the service: %s %v", out, err)
	}
}

// checkJSON reads what a removal says for programs.
func checkJSON(t *testing.T, text string) {
	t.Helper()
	var done struct {
		Changed  bool
		Removed  int
		Services []string
	}
	if err := json.Unmarshal([]byte(text), &done); err != nil || !done.Changed || done.Removed != 1 || len(done.Services) == 0 {
		t.Errorf("%+v, %v: %s", done, err, text)
	}
}

// state is a file that a driver keeps on the node, which no upgrade may touch.
func (n node) state(content string) {
	n.t.Helper()
	path := n.host(`C:\var\lib\kubelet\plugins`)
	if err := os.MkdirAll(path, 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(path+"/state", []byte(content), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n node) unstate() {
	n.t.Helper()
	if err := os.RemoveAll(n.host(`C:\var\lib`)); err != nil {
		n.t.Fatal(err)
	}
}

// A killed process is seen by its number and its pipes, though Wine's manager
// goes on saying that the service runs, and install brings it back.
func TestKilledServiceIsSeenAndBroughtBack(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	n.must("install", current)
	n.killProxies()
	n.finds(current, "WIN005", "WIN010")
	n.must("install", current)
	n.healthy(current)
}

// What Wine's manager doesn't tell is UNKNOWN, with exit code 4.
func TestUntoldIsUnknown(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	n.must("install", current)
	before := n.files()
	r := n.run("check", current)
	if r.code != 4 || !strings.Contains(r.stdout, "UNKNOWN WIN004") || strings.Contains(r.stdout, "BLOCK   WIN") {
		t.Errorf("%+v", r)
	}
	for path := range n.files() {
		if !before[path] {
			t.Errorf("verify left %s", path)
		}
	}
}
