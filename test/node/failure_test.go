package node

import (
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/winbake/winbake/test/winenode"
)

// fails runs a command that must fail with a person's error, and nothing else.
func (n node) fails(want string, tool string, args ...string) {
	n.t.Helper()
	r := n.run(tool, args...)
	if r.code != 1 || !strings.Contains(r.stderr, want) || !strings.Contains(r.stderr, "\nfix: ") || strings.Contains(r.stderr, "panic") {
		n.t.Errorf("%s %s: want %q, got code %d\n%s%s", tool, strings.Join(args, " "), want, r.code, r.stdout, r.stderr)
	}
}

func TestBrokenUpgradeIsRolledBack(t *testing.T) {
	old := image(t, winenode.CSIProxy11)
	broken := brokenImage(t, old)
	n := start(t)
	n.must("bake", "node", "install", old)
	before := n.files()
	n.fails("the node is as it was", "bake", "node", "upgrade", broken)
	n.healthy(old)
	for path := range n.files() {
		if !before[path] && !strings.Contains(path, ".winbake") {
			t.Errorf("the rollback left %s", path)
		}
	}
}

func TestBadConnections(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	before := n.files()
	other := start2(t)
	wrong := n
	wrong.Node = &winenode.Node{Addr: n.Addr, User: n.User, KeyFile: n.KeyFile, KnownHosts: n.knownHostsOf(other)}
	wrong.fails("the machine's key isn't the known one", "bake", "node", "install", current)
	wrong.Node.KnownHosts = os.DevNull
	wrong.fails("the machine's key isn't known", "verify", "node", current)
	wrong.Node = &winenode.Node{Addr: n.Addr, User: n.User, KeyFile: other.KeyFile, KnownHosts: n.KnownHosts}
	wrong.fails("refuses the login", "bake", "node", "remove")
	for path := range n.files() {
		if !before[path] {
			t.Errorf("a refused connection left %s", path)
		}
	}
}

// TestNodeThatNeverAnswers: it takes the connection and says nothing. The commands end
// at the time that they were given, and ask the other node all the same.
func TestNodeThatNeverAnswers(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	n := node{t: t, Node: &winenode.Node{KnownHosts: os.DevNull, KeyFile: filepath.Join(t.TempDir(), "key")}}
	if err := os.WriteFile(n.KeyFile, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	fleet := []string{"--ssh", "a@" + silent.Addr().String(), "--ssh", "a@127.0.0.1:1", "--parallel", "1", "--node-timeout", "1s"}
	current := image(t, winenode.CSIProxy13)
	for tool, c := range map[string]struct {
		args []string
		code int
	}{
		"bake":   {[]string{"node", "install", current, "--max-failures", "100%"}, 1},
		"verify": {[]string{"node", current}, 4},
	} {
		began := time.Now()
		r := n.fleet(tool, slices.Concat(c.args, fleet)...)
		if took := time.Since(began); r.code != c.code || took > time.Minute {
			t.Errorf("%s: code %d after %s", tool, r.code, took)
		}
		for _, want := range []string{"after 1s the work on the machine isn't done", "127.0.0.1:1: connect: connection refused"} {
			if !strings.Contains(r.stdout+r.stderr, want) {
				t.Errorf("%s: no %q: %s%s", tool, want, r.stdout, r.stderr)
			}
		}
	}
}

func start2(t *testing.T) *winenode.Node { return winenode.Start(t, winenode.Options{}) }

// knownHostsOf claims another node's key for this node.
func (n node) knownHostsOf(other *winenode.Node) string {
	n.t.Helper()
	data, err := os.ReadFile(other.KnownHosts)
	if err != nil {
		n.t.Fatal(err)
	}
	_, key, ok := strings.Cut(string(data), " ")
	own, err := os.ReadFile(n.KnownHosts)
	if err != nil || !ok {
		n.t.Fatal(err)
	}
	host, _, _ := strings.Cut(string(own), " ")
	path := filepath.Join(n.t.TempDir(), "known_hosts")
	if err := os.WriteFile(path, []byte(host+" "+key), 0o600); err != nil {
		n.t.Fatal(err)
	}
	return path
}

// What goes wrong with an upload leaves the node as it was, and the next run
// ends right.
func TestBadUploads(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	for _, c := range []struct {
		name       string
		spoil, fix func()
		want       string
	}{
		{"cut", func() { n.CutAfter(2 << 20) }, func() { n.CutAfter(0) }, "the connection broke off"},
		{"full disk", func() { n.Space(1 << 20) }, func() { n.Space(-1) }, "the machine's disk is full"},
		{"truncated", func() { n.Truncate(100000) }, func() { n.Truncate(0) }, "was cut"},
		{"read-only", func() { n.ReadOnly(n.Home()) }, func() { n.ReadOnly() }, "can't be written there"},
		{"a file for a folder", func() { n.put(`C:\k`, "x") }, func() { n.remove(`C:\k`) }, "can't be written"},
	} {
		t.Log(c.name)
		c.spoil()
		n.refuses(c.want, "node", "install", current)
		c.fix()
	}
	n.must("bake", "node", "install", current)
	n.healthy(current)
	path := n.host(proxyPath)
	for _, at := range []time.Time{time.Unix(1e9, 0), time.Unix(4e9, 0)} { // a clock that was wrong
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		if r := n.must("bake", "node", "install", current); !strings.Contains(r.stdout, "nothing to install") {
			t.Errorf("a file's time counts: %s", r.stdout)
		}
	}
}

func TestNotAdministrator(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	t.Parallel()
	n := node{winenode.Start(t, winenode.Options{NotAdministrator: true}), t}
	n.refuses("this user is no administrator", "node", "install", current)
	n.refuses("this user is no administrator", "node", "remove")
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
		n.refuses(want, "node", "install", current)
	}
	n.sc("csi-proxy", `C:\elsewhere\csi-proxy.exe -windows-service`)
	refused(`C:\elsewhere\csi-proxy.exe`)
	n.unsc("csi-proxy")
	n.sc("csiproxy", proxyPath+" -windows-service")
	refused("csiproxy")
	n.unsc("csiproxy")
	n.sc("windows-instance-config-daemon", `C:\k\windows-instance-config-daemon.exe`)
	refused("WMCO manages this node")
	n.must("bake", "node", "install", current, "--managed")
	// On a node of WMCO's, recovery actions are the daemon's: no need to accept.
	if r := n.must("verify", "node", current); !strings.Contains(r.stdout, "INFO    WIN004") {
		t.Errorf("verify says %s", r.stdout)
	}
	n.sc("csiproxy", proxyPath+" -windows-service")
	if r := n.run("verify", "node", current); r.code != 3 || !strings.Contains(r.stdout, "WIN006") {
		t.Errorf("a second owner of the pipes: %+v", r)
	}
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
	n.refuses("the file is in use: process", "node", "install", current)
	for _, p := range n.proxies() {
		if err := n.Kill(p); err != nil {
			t.Fatal(err)
		}
	}
	n.must("bake", "node", "install", current)
}

func TestReadOnlyTarget(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	n.Put(t, n.host(`C:\winenode\guest.exe`), proxyPath)
	if err := os.Chmod(n.host(proxyPath), 0o444); err != nil {
		t.Fatal(err)
	}
	n.refuses("the file is read-only", "node", "install", current)
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
	n.must("bake", "node", "install", odd)
	n.healthy(odd)
	n.must("bake", "node", "remove")
	if left := n.read(`C:\Program Files\Bäckerei & Söhne's\csi-proxy.exe`); left != "" || len(n.proxies()) > 0 {
		t.Error("remove left something")
	}
}
