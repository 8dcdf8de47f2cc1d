//go:build e2e

package e2e

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/winbake/winbake/test/packer"
	"github.com/winbake/winbake/test/winenode"
)

// slow is a link to a data centre over a VPN.
var slow = winenode.Link{BitsPerSecond: 100e6, RoundTrip: 20 * time.Millisecond}

// TestOverASlowLine: over a slow line both ways end with the same files and a
// service that serves its pipes. The times are for docs/packer-plugin.md; no
// machine's load decides over a test.
func TestOverASlowLine(t *testing.T) {
	naive, ours := winenode.Start(t, winenode.Options{Link: slow}), winenode.Start(t, winenode.Options{Link: slow})
	files := filepath.Join(t.TempDir(), "files")
	if err := tools(t).bake("--only", components, "--format", "flat", "--dir", files); err != nil {
		t.Fatal(err)
	}
	a := newBuild(t, packer.Packers[0], naive)
	a.use("naive.pkr.hcl")
	_, port, err := net.SplitHostPort(naive.Addr)
	if err != nil {
		t.Fatal(err)
	}
	a.vars = map[string]string{"files": files, "port": port, "password": naive.Password}
	b := nullBuild(t, packer.Packers[0], ours, "once.pkr.hcl")
	slowly, quickly, again := timed(a), timed(b), timed(b)
	for _, f := range b.manifest("windows.node.json").Content.Files {
		if string(a.onNode(f.Path)) != string(b.onNode(f.Path)) {
			t.Errorf("%s isn't the same on both machines", f.Path)
		}
	}
	for _, n := range []*winenode.Node{naive, ours} {
		if p, err := n.Processes("csi-proxy.exe"); err != nil || len(p) != 1 {
			t.Errorf("csi-proxy runs as %v, %v", p, err)
		}
	}
	t.Logf("file by file, then sc.exe: %s; winbake-node with its check: %s, %.1f times faster; a second time: %s",
		slowly, quickly, float64(slowly)/float64(quickly), again)
}

func timed(b *build) time.Duration {
	b.t.Helper()
	began := time.Now()
	b.must()
	return time.Since(began).Round(100 * time.Millisecond)
}
