package node

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/test/wine/winenode"
)

// Two changes at once: the node ends as one of them, whole, and each command
// says what came of it.
func TestTwoChangesAtOnce(t *testing.T) {
	versions := []string{image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)}
	n := start(t)
	for _, v := range versions {
		n.brought(v)
	}
	both := func(commands ...[]string) []ran {
		results := make([]ran, len(commands))
		var wg sync.WaitGroup
		for i, c := range commands {
			wg.Go(func() { results[i] = n.run(c...) })
		}
		wg.Wait()
		return results
	}
	for _, r := range both([]string{"install", versions[0]}, []string{"install", versions[0]}) {
		if r.code != 0 {
			t.Errorf("the same twice: %+v", r)
		}
	}
	n.healthy(versions[0])
	results := both([]string{"install", versions[0]}, []string{"install", versions[1]})
	right := 0
	for i, r := range results {
		switch {
		case r.code == 0:
		case !strings.Contains(r.stderr, "\nfix: "):
			t.Errorf("upgrade %d: %+v", i, r)
		}
		if v := n.run(append([]string{"check", versions[i]}, wineCantTell...)...); v.code == 0 {
			right++
		}
	}
	if right != 1 {
		t.Errorf("the node is right for %d of the two images\n%+v", right, results)
	}
	n.must("install", versions[1])
	n.healthy(versions[1])
	for i, r := range both([]string{"install", versions[1]}, []string{"remove"}) {
		if r.code != 0 && !strings.Contains(r.stderr, "\nfix: ") {
			t.Errorf("an install and a removal, %d: %+v", i, r)
		}
	}
	n.must("install", versions[1])
	n.healthy(versions[1])
}

// A csi-proxy that somebody started by hand, from another folder, serves the
// pipes without a service.
func TestPipesServedByAStranger(t *testing.T) {
	old, current := image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)
	n := start(t)
	n.must("install", old)
	const elsewhere = `C:\elsewhere\csi-proxy.exe`
	n.Put(t, n.host(proxyPath), elsewhere)
	n.killProxies()
	n.stranger(elsewhere, old)
	n.finds(old, "WIN011", elsewhere)
	n.killProxies()
	n.must("remove")
	n.stranger(elsewhere, old)
	n.refuses("is served by process", "install", current)
	n.killProxies()
	n.must("install", current)
	n.healthy(current)
}

// A byte of the image that was changed after it was baked, wherever it is,
// keeps all of it from the node.
func TestTamperedImage(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	blobs, err := filepath.Glob(filepath.Join(current, "blobs", "sha256", "*"))
	if err != nil || len(blobs) < 4 {
		t.Fatalf("%v, %v", blobs, err)
	}
	for _, blob := range blobs {
		tampered := filepath.Join(t.TempDir(), "image")
		if err := os.CopyFS(tampered, os.DirFS(current)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(tampered, "blobs", "sha256", filepath.Base(blob))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(path, data, 0o644); err != nil { //nolint:gosec // a copy for this test
			t.Fatal(err)
		}
		n.removeAll(`C:\winenode\image`)
		r := n.run("install", tampered)
		if r.code == 0 || r.stdout != "" || !strings.Contains(r.stderr, "\nfix: ") {
			t.Errorf("%s, %d bytes: %+v", filepath.Base(blob), len(data), r)
		}
		t.Logf("%d bytes: %s", len(data), r.stderr)
	}
	if n.read(proxyPath) != "" || n.service() != "" || len(n.proxies()) > 0 {
		t.Error("something was installed")
	}
}

// stranger starts the image's csi-proxy without a service, until it's killed.
func (n node) stranger(path, image string) {
	n.t.Helper()
	ctx, stop := context.WithCancel(n.t.Context())
	ended := make(chan struct{})
	go func() { _, _ = n.Wine(ctx, path); close(ended) }()
	n.t.Cleanup(func() { stop(); <-ended })
	n.waitFor("the stranger's pipes", func() bool {
		r := n.run("check", image)
		return r.code == 3 && !strings.Contains(r.stdout, "WIN010")
	})
}

func (n node) killProxies() {
	n.t.Helper()
	for _, p := range n.proxies() {
		if err := n.Kill(p); err != nil {
			n.t.Fatal(err)
		}
	}
}

// removeAll removes what was brought to the node.
func (n node) removeAll(windows string) {
	n.t.Helper()
	if err := os.RemoveAll(n.host(windows)); err != nil {
		n.t.Fatal(err)
	}
}

// What a person may get wrong, before anything is changed.
func TestWrongArguments(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	for want, args := range map[string][]string{
		"bake payload --dir":                   {"install", "quay.io/me/payload:4.20"},
		"--output can't be":                    {"install", current, "-o", "yaml"},
		"--stop-timeout":                       {"remove", "--start-timeout", "0s"},
		"none.json":                            {"check", "none.json"},
		"nothing that verify.exe installed is": {"check"},
		"no file of component kubelet":         {"install", current, "--only", "kubelet"},
	} {
		n.fails(want, args...)
	}
	if n.read(proxyPath) != "" {
		t.Error("something was installed")
	}
}

// A payload comes as a folder, of both formats, as a tarball, and on its own
// checks what was installed.
func TestWaysToBringAPayload(t *testing.T) {
	n := start(t)
	for name, args := range map[string][]string{
		"flat": {"--format", "flat", "--dir"}, "archived": {"--format", "archived", "--dir"}, "image.tar": {"--tarball"},
	} {
		place := filepath.Join(t.TempDir(), name)
		cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), "bake"), append([]string{"payload", "-f", winenode.CSIProxy13, "--only", "csi-proxy"}, append(args, place)...)...)
		cmd.Dir = "../../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		n.must("install", place)
		n.healthy(place)
		n.must(append([]string{"check"}, wineCantTell...)...)
		n.must("remove")
	}
	plain := filepath.Join(t.TempDir(), "bare")
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), "bake"), "payload", "-f", withServices(t, winenode.CSIProxy13, proxyPath, "  []\n"), "--only", "csi-proxy", "--dir", plain)
	cmd.Dir = "../../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n.fails("doesn't say what a node should be", "install", plain)
}
