package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/test/winenode"
)

// TestFleet: two nodes and one that nobody is at, in one command.
func TestFleet(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n, m := start(t), winenode.Start(t, winenode.Options{})
	dir := t.TempDir()
	var known []byte
	for _, file := range []string{n.KnownHosts, m.KnownHosts} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		known = append(known, data...)
	}
	list := filepath.Join(dir, "nodes")
	for file, text := range map[string]string{
		list: n.User + "@" + n.Addr + "\nnobody@127.0.0.1:1 # no sshd\n" + m.Addr + "\n", filepath.Join(dir, "known_hosts"): string(known),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n.Node.KnownHosts = filepath.Join(dir, "known_hosts")
	fleet := []string{"--hosts", list, "--user", m.User, "--identity", m.KeyFile}
	on := func(r ran, tool string, args ...string) ran {
		t.Helper()
		if r.code == 0 {
			t.Fatalf("%s %v passes: %s", tool, args, r.stdout)
		}
		return r
	}
	// The first that fails ends it: the third isn't begun.
	install := append([]string{"node", "install", current}, fleet...)
	r := on(n.fleet("bake", append(install, "--parallel", "1")...), "bake", install...)
	for _, want := range []string{"1 files installed", "failed: the machine can't be reached", "not begun", "1 of 3 nodes failed, and 1 weren't begun"} {
		if !strings.Contains(r.stdout+r.stderr, want) {
			t.Errorf("no %q: %s%s", want, r.stdout, r.stderr)
		}
	}
	// Run again, the first is left as it is.
	r = on(n.fleet("bake", append(install, "--max-failures", "50%", "-o", "json")...), "bake", install...)
	var done struct {
		Items []struct {
			Node, Error string
			Done        *struct{ Changed bool }
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &done); err != nil || len(done.Items) != 3 {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	if i := done.Items; i[0].Done == nil || i[0].Done.Changed || i[1].Done != nil || i[1].Error == "" || i[2].Done == nil || !i[2].Done.Changed {
		t.Errorf("%+v", done)
	}
	check := slices.Concat([]string{"node", current}, fleet, wineCantTell)
	r = on(n.fleet("verify", check...), "verify", check...)
	if r.code != 4 || strings.Count(r.stdout, "  PASS  ") != 2 || !strings.Contains(r.stdout, "UNKNOWN WIN018") {
		t.Errorf("%+v", r)
	}
	on(n.fleet("verify", append(check, "-o", "json")...), "verify", check...)
	on(n.fleet("bake", slices.Concat([]string{"node", "remove"}, fleet, []string{"--max-failures", "1"})...), "bake", "remove")
	r = on(n.fleet("verify", check...), "verify", check...)
	if r.code != 3 || strings.Count(r.stdout, "UNKNOWN WIN018") != 1 {
		t.Errorf("%+v", r)
	}
}
