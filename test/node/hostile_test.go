package node

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/klauspost/compress/zstd"

	"github.com/winbake/winbake/test/winenode"
)

// Two changes at once: the node ends as one of them, whole, and each command
// says what came of it.
func TestTwoChangesAtOnce(t *testing.T) {
	versions := []string{image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)}
	n := start(t)
	both := func(commands ...[]string) []ran {
		results := make([]ran, len(commands))
		var wg sync.WaitGroup
		for i, c := range commands {
			wg.Go(func() { results[i] = n.run("bake", c...) })
		}
		wg.Wait()
		return results
	}
	for _, r := range both([]string{"node", "install", versions[0]}, []string{"node", "install", versions[0]}) {
		if r.code != 0 {
			t.Errorf("the same twice: %+v", r)
		}
	}
	n.healthy(versions[0])
	results := both([]string{"node", "upgrade", versions[0]}, []string{"node", "upgrade", versions[1]})
	right := 0
	for i, r := range results {
		switch {
		case r.code == 0:
		case !strings.Contains(r.stderr, "\nfix: "):
			t.Errorf("upgrade %d: %+v", i, r)
		}
		if v := n.run("verify", append([]string{"node", versions[i]}, wineCantTell...)...); v.code == 0 {
			right++
		}
	}
	if right != 1 {
		t.Errorf("the node is right for %d of the two images\n%+v", right, results)
	}
	n.must("bake", "node", "upgrade", versions[1])
	n.healthy(versions[1])
	for i, r := range both([]string{"node", "install", versions[1]}, []string{"node", "remove"}) {
		if r.code != 0 && !strings.Contains(r.stderr, "\nfix: ") {
			t.Errorf("an install and a removal, %d: %+v", i, r)
		}
	}
	n.must("bake", "node", "install", versions[1])
	n.healthy(versions[1])
}

// What two runs bring at once is the same file: when the other's has its name
// and is being unpacked, Windows keeps it, and this run goes on with it. Its
// upload pauses until a program holds the file.
func TestUploadThatAnotherRunUnpacks(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	program, err := os.ReadFile(winenode.Built(t, winenode.CSIProxy13, "csi-proxy"))
	if err != nil {
		t.Fatal(err)
	}
	resume := n.Pause(n.stage())
	defer resume()
	ended := make(chan ran)
	go func() { ended <- n.run("bake", "node", "install", current) }()
	n.waitForPart()
	staged := n.stage() + `\` + sumOf(program) + ".zst"
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	n.put(staged, string(z.EncodeAll(program, nil)))
	stop := n.holds(staged)
	uploads, err := filepath.Glob(n.host(staged) + ".*")
	if err != nil || len(uploads) == 0 {
		t.Fatalf("the upload ended before the file was held: %q, %v", uploads, err)
	}
	resume()
	if r := <-ended; r.code != 0 {
		t.Errorf("%+v", r)
	}
	stop()
	n.healthy(current)
	n.must("bake", "node", "remove")
}

// Ctrl-C in the middle of an upload: no half file on the node counts, nothing
// is left here, and the next run ends right.
func TestInterruptedUpload(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	n := start(t)
	resume := n.Pause(n.stage())
	defer resume()
	temp := t.TempDir()
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools(t), "bake"), "node", "install", current,
		"--ssh", n.User+"@"+n.Addr, "--known-hosts", n.KnownHosts, "--identity", n.KeyFile)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stderr, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n.waitForPart()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if exit, ok := errors.AsType[*exec.ExitError](cmd.Wait()); !ok || exit.ExitCode() != 130 {
		t.Errorf("it ended with %v\n%s", exit, stderr.String())
	}
	resume()
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left here: %v, %v", left, err)
	}
	if n.read(proxyPath) != "" || len(n.proxies()) > 0 {
		t.Error("something was installed")
	}
	n.must("bake", "node", "install", current)
	n.healthy(current)
}

// stage is where files of the payload arrive.
func (n node) stage() string { return n.Home() + `\.winbake\stage` }

// waitForPart waits until some of a file of the payload has arrived.
func (n node) waitForPart() {
	n.t.Helper()
	pattern := filepath.Join(n.host(n.stage()), "*")
	n.waitFor("some of a file arrives", func() bool {
		found, err := filepath.Glob(pattern)
		if err != nil {
			n.t.Fatal(err)
		}
		return slices.ContainsFunc(found, func(f string) bool {
			info, err := os.Stat(f)
			return err == nil && info.Size() > 0
		})
	})
}

// A csi-proxy that somebody started by hand, from another folder, serves the
// pipes without a service.
func TestPipesServedByAStranger(t *testing.T) {
	old, current := image(t, winenode.CSIProxy11), image(t, winenode.CSIProxy13)
	n := start(t)
	n.must("bake", "node", "install", old)
	const elsewhere = `C:\elsewhere\csi-proxy.exe`
	n.Put(t, n.host(proxyPath), elsewhere)
	n.killProxies()
	n.stranger(elsewhere, old)
	if r := n.run("verify", append([]string{"node", old}, wineCantTell...)...); r.code != 3 || !strings.Contains(r.stdout, "WIN011") || !strings.Contains(r.stdout, elsewhere) {
		t.Errorf("a stranger in the service's place: %+v", r)
	}
	n.killProxies()
	n.must("bake", "node", "remove")
	n.stranger(elsewhere, old)
	n.refuses("is still served, by process", "node", "install", current)
	n.killProxies()
	n.must("bake", "node", "install", current)
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
		r := n.run("bake", "node", "install", tampered)
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
		r := n.run("verify", "node", image)
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

// What a person may get wrong, before anything reaches the node.
func TestWrongArguments(t *testing.T) {
	current := image(t, winenode.CSIProxy13)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	index, err := layout.ImageIndexFromPath(current)
	if err != nil {
		t.Fatal(err)
	}
	m, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	img, err := index.Image(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	tag := strings.TrimPrefix(server.URL, "http://") + "/payload:4.20"
	ref, err := name.NewTag(tag)
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img); err != nil {
		t.Fatal(err)
	}
	n := start(t)
	digest := strings.TrimSuffix(tag, ":4.20") + "@" + m.Manifests[0].Digest.String()
	for _, tool := range [][]string{{"bake", "node", "install"}, {"bake", "node", "upgrade"}, {"verify", "node"}} {
		n.fails(digest, tool[0], append(tool[1:], tag, "--plain-http")...)
	}
	n.fails("--output can't be", "bake", "node", "install", digest, "--plain-http", "-o", "yaml")
	if n.read(proxyPath) != "" {
		t.Error("something was installed before the format was refused")
	}
	n.fails("--stop-timeout", "bake", "node", "remove", "--start-timeout", "0s")
	n.fails("none.json", "verify", "node", "--expect", "none.json")
	n.must("bake", "node", "install", digest, "--plain-http")
	n.healthy(current)
}

// An image without verify.exe is enough for bake, which builds one; verify needs
// the one beside it, and says how to get it before the node is asked.
func TestImageWithoutVerify(t *testing.T) {
	dir := tools(t)
	plain := filepath.Join(t.TempDir(), "plain")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "bake"), "payload", "-f", winenode.CSIProxy13, "--only", "csi-proxy", "--layout", plain)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := start(t)
	n.must("bake", "node", "install", plain)
	n.healthy(plain)
	alone := filepath.Join(t.TempDir(), "verify")
	if err := copyFile(filepath.Join(dir, "verify"), alone); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), alone, "node", plain, "--ssh", "a@127.0.0.1:1").CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 || !strings.Contains(string(out), "there is no verify.exe") || !strings.Contains(string(out), "bake node verify-exe --out") {
		t.Errorf("%v\n%s", err, out)
	}
}

// An operator's own image has no node.json. What goes where, and as what
// services, is said by a versions.yaml that is named; the files' sums are the
// image's.
func TestImageOfAnOperator(t *testing.T) {
	dir := tools(t)
	stock := filepath.Join(t.TempDir(), "stock")
	bare := withServices(t, winenode.CSIProxy13, proxyPath, "  []\n")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "bake"), "payload", "-f", bare, "--only", "csi-proxy", "--layout", stock)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	n := start(t)
	n.fails("-f versions.yaml", "bake", "node", "install", stock)
	n.fails("no services are declared", "bake", "node", "install", stock, "-f", bare)
	if n.read(proxyPath) != "" {
		t.Error("something was installed")
	}
	// Of another release, and of components that the image doesn't have.
	r := n.must("bake", "node", "install", stock, "-f", winenode.CSIProxy11)
	if !strings.Contains(r.stderr, "it is left out") {
		t.Errorf("it doesn't say what the image lacks: %+v", r)
	}
	n.healthyBy(stock, "-f", winenode.CSIProxy11)
	if r := n.must("bake", "node", "install", stock, "-f", winenode.CSIProxy11); !strings.Contains(r.stdout, "nothing to install") {
		t.Errorf("once more: %+v", r)
	}
	n.must("bake", "node", "remove")
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755) //nolint:gosec // a program
}
