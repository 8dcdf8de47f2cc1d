//go:build drivers

package winedriver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/test/wine/winenode"
)

// given are the programs that `make e2e-drivers` was told of: RELEASE-NAME.exe as
// bake driver built them, and csi-proxy-VERSION.exe beside the two that are built
// here.
func given(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("PROGRAMS")
	if dir == "" {
		t.Fatal("PROGRAMS isn't set: make e2e-drivers PROGRAMS=FOLDER")
	}
	return dir
}

// TestReal runs each program in each mode beside each csi-proxy, and holds the
// outcome to the catalog's row. It prints a row that isn't there yet.
func TestReal(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	n := winenode.Start(t, winenode.Options{})
	GiveCluster(t, n)
	proxies := Proxies(t)
	older, err := filepath.Glob(filepath.Join(given(t), "csi-proxy-*.exe"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range older {
		proxies[strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "csi-proxy-"), ".exe")] = file
	}
	unixSocket := winenode.Program(t, "./test/wine/winedriver/unixsocket")
	seen := map[string]bool{}
	for i := range cat.Builds {
		b := &cat.Builds[i]
		for _, h := range b.Heads {
			exe := filepath.Join(given(t), h.OpenShift+"-"+b.Name+".exe")
			if _, err := os.Stat(exe); err != nil || b.Sidecar() || seen[h.Commit] {
				continue
			}
			seen[h.Commit] = true
			v, err := version.ParseDriver(h.Version)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range Cases(b.Name, cat.Driver(b.Name).Line(v), exe, proxies) {
				c.UnixSocket = unixSocket
				o, err := Run(t.Context(), n, c)
				if err != nil {
					t.Errorf("%s of %s, %+v: %v", b.Name, h.OpenShift, c, err)
					continue
				}
				if Check(t, cat, c, o, h.Version, h.Commit) {
					continue
				}
				o.Commit, o.Version, o.Mode, o.CSIProxy, o.Date = h.Commit, h.Version, c.Mode(), c.ProxyVersion, time.Now().UTC().Format(time.DateOnly)
				o.Note = because(t, c, o)
				text, err := json.Marshal(o.Execution)
				if err != nil {
					t.Fatal(err)
				}
				t.Errorf("the catalog has no row:\nROW %s %s\n%s %q", b.Name, text, o.Error, o.Unexpected)
			}
		}
	}
	if len(seen) == 0 {
		t.Errorf("%s has no RELEASE-NAME.exe", given(t))
	}
}

// because is why a call fails in Wine.
func because(t *testing.T, c Case, o Outcome) string {
	t.Helper()
	if o.Failed == "" {
		return ""
	}
	for _, cause := range []struct{ words, why string }{
		{ErrEnded.Error(), "it ended"},
		{"connect to WMI", "Wine has no WMI"},
		{"failed to get BIOS element", "Wine has no WMI"},
		{"error reading link", "Wine has no link"},
		{"checking initialized status of disk 0. Not Found", "Wine has no WMI"},
		{"listing disk ids: ", "Wine has no disk to open"},
		{"File not found.", "Wine has no disk to open"},
		{"could not find disk", "Wine has no disks"},
		{"no matching disks found", "Wine has no disks"},
		{"not found", "Wine has no disks"},
	} {
		if strings.Contains(o.Error, cause.words) {
			return cause.why
		}
	}
	t.Errorf("%s: nobody has looked at why it failed: %s %q\n%s", c.Driver, o.Error, o.Unexpected, o.Log)
	return ""
}
