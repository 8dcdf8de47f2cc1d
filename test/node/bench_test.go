package node

import (
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	rules "github.com/winbake/winbake/internal/windows/node"
	"github.com/winbake/winbake/test/document"
	"github.com/winbake/winbake/test/winenode"
)

// slowLine is 100 Mbit/s with 20 ms round trip.
var slowLine = winenode.Link{BitsPerSecond: 100e6, RoundTrip: 20 * time.Millisecond}

var pins = flag.String("pins", winenode.CSIProxy13, "the versions.yaml whose payload the bench installs, from the repository's top")

// BenchmarkInstallOverASlowLink brings a payload's files over a slow line: by
// bake node install, and one by one with scp. Both bring verify.exe, and both
// end when all files are there and their sums were found right. The goal is the
// ratio of the two, taken in one run. What a service adds, and what a second
// install costs, is measured and written down beside it.
func BenchmarkInstallOverASlowLink(b *testing.B) {
	p := bakeForBench(b)
	for b.Loop() {
		slow := benchNode{winenode.Start(b, winenode.Options{Link: slowLine}), b, p}
		scp := slow.scp()
		install := slow.install(append([]string{"--only"}, strings.Join(p.components, ","))...)
		service := slow.install()
		again := slow.install()
		local := benchNode{winenode.Start(b, winenode.Options{}), b, p}
		local.install("--only", "csi-proxy")
		near := local.install("--only", "csi-proxy")
		ratio := scp.Seconds() / install.Seconds()
		for unit, took := range map[string]time.Duration{"scp-s": scp, "install-s": install, "service-s": service, "again-s": again, "again-near-s": near} {
			b.ReportMetric(took.Seconds(), unit)
		}
		b.ReportMetric(ratio, "scp/install")
		missed := ""
		if ratio < 2 {
			missed = " MISSED"
			b.Errorf("scp took %s and bake node install %s: a ratio of %.2f, the goal is 2", scp, install, ratio)
		}
		writeDown(b, fmt.Sprintf(`%d files, %d MB, on %d cores of %s/%s with %s and Wine:

| what | baseline | ours | figure (goal) |
|---|---|---|---|
| time of scp, one by one / of bake node install | %.2f s | %.2f s | %.2f (at least 2)%s |
| then csi-proxy and its service |  | %.2f s |  |
| the same again, nothing changed |  | %.2f s |  |
| csi-proxy alone, nothing changed, on a fast line |  | %.2f s |  |
`, len(p.files), p.size/1e6, runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), scp.Seconds(), install.Seconds(), ratio, missed,
			service.Seconds(), again.Seconds(), near.Seconds()))
	}
}

// benchPayload is a payload as an image, and the files of all components but
// csi-proxy as they lie in a folder.
type benchPayload struct {
	bake, verifyExe, image string
	components             []string
	files                  map[string]string // by name, with its sum
	dir                    string
	size                   int64
}

func bakeForBench(b *testing.B) benchPayload {
	b.Helper()
	dir, err := built()
	if err != nil {
		b.Fatal(err)
	}
	p := benchPayload{bake: filepath.Join(dir, "bake"), verifyExe: filepath.Join(dir, "verify.exe"), image: filepath.Join(dir, "bench-image"),
		files: map[string]string{}, dir: filepath.Join(dir, "bench-files")}
	tree := filepath.Join(dir, "bench-tree")
	timed(b, p.bake, "payload", "-f", *pins, "--with-verify", "--layout", p.image, "--dir", tree, "--format", "flat")
	data, err := os.ReadFile(filepath.Join(tree+".winbake", rules.FileName))
	if err != nil {
		b.Fatal(err)
	}
	e, err := rules.Parse(data)
	if err == nil {
		err = os.Mkdir(p.dir, 0o755)
	}
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range e.Files {
		if f.Component == "csi-proxy" {
			continue
		}
		name := rules.Base(f.Path)
		p.components, p.files[name], p.size = append(p.components, f.Component), f.SHA256, p.size+f.Size
		if err := os.Rename(filepath.Join(tree, filepath.FromSlash(f.Payload)), filepath.Join(p.dir, name)); err != nil {
			b.Fatal(err)
		}
	}
	if len(p.files) < 10 {
		b.Fatalf("a payload of %d files is no payload", len(p.files))
	}
	return p
}

type benchNode struct {
	*winenode.Node
	b *testing.B
	benchPayload
}

// timed runs a program that must succeed.
func timed(b *testing.B, name string, args ...string) (out string, took time.Duration) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), name, args...)
	cmd.Dir = "../.."
	began := time.Now()
	text, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s %v: %v\n%s", name, args, err, text)
	}
	return string(text), time.Since(began)
}

func (n benchNode) install(more ...string) time.Duration {
	n.b.Helper()
	_, took := timed(n.b, n.bake, append([]string{"node", "install", n.image, "--ssh", n.User + "@" + n.Addr, "--known-hosts", n.KnownHosts, "--identity", n.KeyFile}, more...)...)
	return took
}

// scp copies verify.exe and the files one by one, and has it hash them there.
func (n benchNode) scp() (took time.Duration) {
	n.b.Helper()
	host, port, err := net.SplitHostPort(n.Addr)
	if err != nil {
		n.b.Fatal(err)
	}
	options := []string{"-q", "-i", n.KeyFile, "-o", "UserKnownHostsFile=" + n.KnownHosts}
	names := slices.Sorted(maps.Keys(n.files))
	for _, path := range append([]string{n.verifyExe}, names...) {
		if path != n.verifyExe {
			path = filepath.Join(n.dir, path)
		}
		_, t := timed(n.b, "scp", slices.Concat(options, []string{"-P", port, path, n.User + "@" + host + ":" + filepath.Base(path)})...)
		took += t
	}
	sums, t := timed(n.b, "ssh", slices.Concat(options, []string{"-p", port, n.User + "@" + host, `.\verify.exe hash ` + strings.Join(names, " ")})...)
	for name, sum := range n.files {
		if !strings.Contains(sums, sum+"  "+name) {
			n.b.Fatalf("%s isn't right: %s", name, sums)
		}
	}
	return took + t
}

var write = flag.String("write", "", "write the bench's table into this document, between its markers")

func writeDown(b *testing.B, table string) {
	b.Helper()
	if *write == "" {
		return
	}
	if err := document.Insert(*write, "bench node", table); err != nil {
		b.Fatal(err)
	}
}
