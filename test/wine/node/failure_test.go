package node

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/test/wine/winenode"
)

// fails runs a command that must fail with a person's error, and nothing else.
func (n node) fails(want string, args ...string) {
	n.t.Helper()
	r := n.run(args...)
	if r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "\nfix: ") || strings.Contains(r.stderr, "panic") {
		n.t.Errorf("%s: want %q, got code %d\n%s%s", strings.Join(args, " "), want, r.code, r.stdout, r.stderr)
	}
}

func TestBrokenUpgradeIsRolledBack(t *testing.T) {
	old := image(t, winenode.CSIProxy11)
	broken := brokenImage(t, old)
	n := start(t)
	n.must("install", old)
	before := n.files()
	n.fails("the node is as it was", "install", broken)
	n.healthy(old)
	for path := range n.files() {
		if !before[path] {
			t.Errorf("the rollback left %s", path)
		}
	}
}

// A file in a folder's place leaves the node as it was, and the next run ends
// right. A clock that was wrong doesn't count.
func TestBadPlaces(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	n.put(`C:\k`, "x")
	n.refuses("can't be", "install", current)
	n.remove(`C:\k`)
	n.must("install", current)
	n.healthy(current)
	for _, at := range []time.Time{time.Unix(1e9, 0), time.Unix(4e9, 0)} {
		if err := os.Chtimes(n.host(proxyPath), at, at); err != nil {
			t.Fatal(err)
		}
		if r := n.must("install", current); !strings.Contains(r.stdout, "nothing to do") {
			t.Errorf("a file's time counts: %s", r.stdout)
		}
	}
}

func TestNotAdministrator(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	t.Parallel()
	n := startWith(t, winenode.Options{NotAdministrator: true})
	for _, args := range [][]string{{"install", current}, {"remove"}} {
		n.start(t.Context(), []string{`C:\winenode\guest.exe`, "limited", `C:\winenode\exit`, strings.Join(n.line(args), " ") + ` 2> C:\winenode\said`})
		if code, said := n.read(`C:\winenode\exit`), n.read(`C:\winenode\said`); code != "1" || !strings.Contains(said, "this user is no administrator") {
			t.Errorf("%v: code %q, %s", args, code, said)
		}
	}
	if n.read(proxyPath) != "" || n.service() != "" {
		t.Error("something was installed")
	}
}

// sc creates a service on the node, by hand.
func (n node) sc(name, program string) {
	n.t.Helper()
	if out, err := n.Wine(n.t.Context(), "sc.exe", "create", name, "binPath=", program, "start=", "auto"); err != nil && !strings.Contains(string(out), "SUCCESS") {
		if out, err := n.Wine(n.t.Context(), "sc.exe", "query", name); !strings.Contains(string(out), "STATE") {
			n.t.Fatalf("make service %s: %s, %v", name, out, err)
		}
	}
}

func (n node) unsc(name string) {
	n.t.Helper()
	_, _ = n.Wine(n.t.Context(), "sc.exe", "delete", name)
}

// Services that are there already, and aren't ours.
func TestNodesThatAreNotOurs(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	refused := func(want string) {
		t.Helper()
		n.refuses(want, "install", current)
	}
	n.sc("csi-proxy", `C:\elsewhere\csi-proxy.exe -windows-service`)
	refused(`C:\elsewhere\csi-proxy.exe`)
	n.unsc("csi-proxy")
	n.sc("csiproxy", proxyPath+" -windows-service")
	refused("csiproxy")
	n.unsc("csiproxy")
	n.sc("windows-instance-config-daemon", `C:\k\windows-instance-config-daemon.exe`)
	refused("WMCO manages this node")
	n.unsc("windows-instance-config-daemon")
	n.must("install", current)
	n.sc("windows-instance-config-daemon", `C:\k\windows-instance-config-daemon.exe`)
	// On a node of WMCO's, recovery actions are the daemon's: no need to accept.
	if r := n.must("check", current); !strings.Contains(r.stdout, "INFO    WIN004") {
		t.Errorf("check says %s", r.stdout)
	}
	n.sc("csiproxy", proxyPath+" -windows-service")
	n.finds(current, "WIN006")
}

// A program that something else runs isn't replaced under it.
func TestFileInUse(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	n.Put(t, n.host(`C:\winenode\guest.exe`), proxyPath)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { _, _ = n.Wine(ctx, proxyPath, "stay"); close(ended) }()
	defer func() { stop(); <-ended }()
	n.waitFor("the stray program runs", func() bool { return len(n.proxies()) > 0 })
	n.refuses("the file is in use: process", "install", current)
	for _, p := range n.proxies() {
		if err := n.Kill(p); err != nil {
			t.Fatal(err)
		}
	}
	n.must("install", current)
}

// put writes a file of the node, remove takes it away.
func (n node) put(windows, text string) {
	n.t.Helper()
	if err := os.WriteFile(n.host(windows), []byte(text), 0o644); err != nil {
		n.t.Fatal(err)
	}
}

func (n node) remove(windows string) {
	n.t.Helper()
	if err := os.Remove(n.host(windows)); err != nil {
		n.t.Fatal(err)
	}
}

// Paths with spaces, quotes and letters beyond ASCII are nothing special.
func TestOddPaths(t *testing.T) {
	file := withPath(t, winenode.CSIProxy13, `C:\Program Files\Bäckerei & Söhne's\csi-proxy.exe`, `C:\Program Files\Bäckerei & Söhne's\log`)
	odd := image(t, file)
	n := start(t)
	n.must("install", odd)
	n.healthy(odd)
	n.must("remove")
	if left := n.read(`C:\Program Files\Bäckerei & Söhne's\csi-proxy.exe`); left != "" || len(n.proxies()) > 0 {
		t.Error("remove left something")
	}
}
