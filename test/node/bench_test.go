package node

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/winbake/winbake/test/document"
	"github.com/winbake/winbake/test/winenode"
)

// BenchmarkInstallOverASlowLink installs a whole payload over a line of 100
// Mbit/s with 20 ms round trip, and copies the same files with scp, one by
// one. The install is all of it: upload, unpacking, hashing, the service. The
// goal is a ratio, taken in one run.
func BenchmarkInstallOverASlowLink(b *testing.B) {
	dir, err := built()
	if err != nil {
		b.Fatal(err)
	}
	image, tree := filepath.Join(dir, "bench-image"), filepath.Join(dir, "bench-tree")
	run := func(name string, args ...string) {
		b.Helper()
		cmd := exec.CommandContext(b.Context(), name, args...)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	bake := filepath.Join(dir, "bake")
	run(bake, "payload", "-f", winenode.CSIProxy13, "--with-verify", "--layout", image, "--dir", tree, "--format", "flat")
	files := filesOf(b, tree)
	for b.Loop() {
		slow := winenode.Start(b, winenode.Options{Link: winenode.Link{BitsPerSecond: 100e6, RoundTrip: 20 * time.Millisecond}})
		host, port, err := net.SplitHostPort(slow.Addr)
		if err != nil {
			b.Fatal(err)
		}
		login := []string{"--ssh", slow.User + "@" + slow.Addr, "--known-hosts", slow.KnownHosts, "--identity", slow.KeyFile}
		began := time.Now()
		for _, f := range files {
			run("scp", "-q", "-P", port, "-i", slow.KeyFile, "-o", "UserKnownHostsFile="+slow.KnownHosts, f, slow.User+"@"+host+":"+filepath.Base(f))
		}
		scp := time.Since(began)
		began = time.Now()
		run(bake, append([]string{"node", "install", image}, login...)...)
		install := time.Since(began)
		began = time.Now()
		run(bake, append([]string{"node", "install", image}, login...)...)
		again := time.Since(began)
		ratio := scp.Seconds() / install.Seconds()
		b.ReportMetric(scp.Seconds(), "scp-s")
		b.ReportMetric(install.Seconds(), "install-s")
		b.ReportMetric(again.Seconds(), "again-s")
		b.ReportMetric(ratio, "scp/install")
		verdict := "met"
		if ratio < 2 {
			verdict = "**missed**"
			b.Errorf("scp took %s and bake node install %s: a ratio of %.2f, the goal is 2", scp, install, ratio)
		}
		writeDown(b, fmt.Sprintf(`%d files, on %d cores of %s/%s with %s and Wine:

| what | baseline | ours | figure | goal |
|---|---|---|---|---|
| a whole payload onto a node, 100 Mbit/s, 20 ms round trip: time of scp, one by one / of bake node install | %.2f s | %.2f s | %.2f (at least 2) | %s |
| the same again, nothing changed |  | %.2f s |  |  |
`, len(files), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), scp.Seconds(), install.Seconds(), ratio, verdict, again.Seconds()))
	}
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

func filesOf(b *testing.B, dir string) (files []string) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 10 {
		b.Fatalf("%d files, %v", len(files), err)
	}
	return files
}
