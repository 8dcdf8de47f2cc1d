//go:build e2e

package e2e

import (
	"flag"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/support/document"
	"github.com/winbake/winbake/test/wine/winenode"
)

var write = flag.String("write", "", "write the bench's table into this document, between its markers")

// slow is a link to a data centre over a VPN.
var slow = winenode.Link{BitsPerSecond: 100e6, RoundTrip: 20 * time.Millisecond}

// BenchmarkImages measures a whole build of an image, and our provisioner
// against what one does without it, over a slow line. The goal that fails is
// the ratio, taken in one run; seconds are printed.
func BenchmarkImages(b *testing.B) {
	for b.Loop() {
		whole := wholeBuild(b)
		naive, ours, again := provisioners(b)
		ratio := naive.Seconds() / ours.Seconds()
		b.ReportMetric(whole.Seconds(), "build-s")
		b.ReportMetric(ratio, "naive/ours")
		b.ReportMetric(again.Seconds(), "again-s")
		missed := ""
		if ratio < 2 {
			missed = " MISSED"
			b.Errorf("the file provisioner and sc.exe took %s, winbake-node %s: a ratio of %.2f, the goal is 2", naive, ours, ratio)
		}
		table := fmt.Sprintf(`Packer %s on %d cores of %s/%s with %s and Wine:

| what | baseline | ours | figure (goal) |
|---|---|---|---|
| packer build of a template by vsphere-clone |  | %.2f s | (60 s is wanted) |
| six files and a service: time of the file provisioner and sc.exe / of winbake-node | %.2f s | %.2f s | %.2f (at least 2)%s |
| the same again, nothing to send |  | %.2f s | (5 s is wanted) |
`, packer.Packers[0].Version[1:], runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), whole.Seconds(), naive.Seconds(), ours.Seconds(), ratio, missed, again.Seconds())
		b.Log("\n" + table)
		if *write == "" {
			continue
		}
		if err := document.Insert(*write, "bench packer", table); err != nil {
			b.Fatal(err)
		}
	}
}

// wholeBuild is an image team's: bake template's own template, with the
// simulated vCenter and the payload.
func wholeBuild(b *testing.B) time.Duration {
	p, v := templated(b, "vsphere-clone")
	took := timed(p)
	if all := v.machines(); !all["golden-1"] {
		b.Errorf("vCenter has the machines %v", all)
	}
	return took
}

// provisioners are both ways' times on nodes behind a slow line, and that of
// ours on the node that has everything. Both end with the same files and a
// service that runs.
func provisioners(b *testing.B) (naive, ours, again time.Duration) {
	a, c := winenode.Start(b, winenode.Options{Link: slow}), winenode.Start(b, winenode.Options{Link: slow})
	files := filepath.Join(b.TempDir(), "files")
	if err := tools(b).bake("--only", components, "--format", "flat", "--dir", files); err != nil {
		b.Fatal(err)
	}
	without := newBuild(b, packer.Packers[0], a)
	without.use("naive.pkr.hcl")
	_, port, err := net.SplitHostPort(a.Addr)
	if err != nil {
		b.Fatal(err)
	}
	without.vars = map[string]string{"files": files, "port": port, "password": a.Password}
	with := nullBuild(b, packer.Packers[0], c, "once.pkr.hcl")
	naive, ours, again = timed(without), timed(with), timed(with)
	for _, f := range with.manifest("windows.node.json").Content.Files {
		if string(without.onNode(f.Path)) != string(with.onNode(f.Path)) {
			b.Errorf("%s isn't the same on both machines", f.Path)
		}
	}
	for _, n := range []*winenode.Node{a, c} {
		if p, err := n.Processes("csi-proxy.exe"); err != nil || len(p) != 1 {
			b.Errorf("csi-proxy runs as %v, %v", p, err)
		}
	}
	return naive, ours, again
}

func timed(b *build) time.Duration {
	b.t.Helper()
	began := time.Now()
	b.must()
	return time.Since(began)
}
