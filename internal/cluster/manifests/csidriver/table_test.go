package csidriver_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
	"github.com/winbake/winbake/internal/cluster/inventory/manifests"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/skew"
)

func load(t *testing.T) *catalog.Catalog {
	t.Helper()
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

func release(t *testing.T, s string) version.OpenShift {
	t.Helper()
	v, err := version.ParseOpenShift(s)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// releases are all that the catalog knows from 4.12 on, and two patches of
// those whose patches have drivers of different minors.
func releases(cat *catalog.Catalog) []string {
	var list []string
	for _, r := range cat.Releases {
		if len(r.OpenShift) == 4 && r.OpenShift < "4.12" || r.OpenShift == "4.8" || r.OpenShift == "4.9" {
			continue
		}
		list = append(list, r.OpenShift)
		switch r.OpenShift {
		case "4.14":
			list = append(list, "4.14.10", "4.14.30")
		case "4.21":
			list = append(list, "4.21.3", "4.21.12")
		}
	}
	return list
}

// TestServed writes every driver for every release, mode and Windows version
// and asks the judges of `verify skew --static` about each: nothing may be WARN
// or worse. What can't be served is in the golden table with its reason.
func TestServed(t *testing.T) {
	cat := load(t)
	var table strings.Builder
	served := map[string]int{}
	for _, driver := range csidriver.Drivers() {
		for _, r := range releases(cat) {
			for _, windows := range csidriver.WindowsVersions() {
				for _, mode := range csidriver.Modes() {
					o := csidriver.Options{Driver: driver, For: release(t, r), Mode: csidriver.Mode(mode), Windows: windows}
					folder, err := csidriver.Render(cat, o)
					fmt.Fprintf(&table, "%-10s %-7s %s %-11s ", driver, r, windows, mode)
					if err != nil {
						what, _, _ := strings.Cut(err.Error(), "\n")
						table.WriteString("no: " + what + "\n")
						continue
					}
					served[driver]++
					how := "pipes"
					if folder.HostProcess {
						how = "hostprocess"
					}
					doubt := judge(t, cat, folder, r, fmt.Sprintf("%s for %s on %s, %s", driver, r, windows, mode))
					fmt.Fprintf(&table, "v%s %s%s\n", folder.Version.Core(), how, doubt)
				}
			}
		}
	}
	golden(t, "served.txt", []byte(table.String()))
	for _, driver := range csidriver.Drivers() {
		if served[driver] == 0 {
			t.Errorf("%s is served nowhere", driver)
		}
	}
}

// judge is `verify skew --from R --manifests DIR --static` in this process. What
// it returns is doubt that no folder could take away: DATA001 says that only the
// head of a release's branch is known, whatever is deployed.
func judge(t *testing.T, cat *catalog.Catalog, folder *csidriver.Folder, from, name string) (doubt string) {
	t.Helper()
	res := evaluate(t, cat, write(t, folder), from)
	if len(res.Drivers) != 1 || !strings.HasPrefix(res.Drivers[0].Windows, folder.Version.Core()) {
		t.Errorf("%s: the driver isn't seen, or is %+v", name, res.Drivers)
	}
	if len(res.Evaluated) < 5 {
		t.Errorf("%s: only %v were evaluated", name, res.Evaluated)
	}
	for _, f := range res.Findings {
		switch {
		case f.Severity < finding.Warn:
		case f.ID == "DATA001" && f.Severity == finding.Warn && strings.Contains(f.Observed, "the head of the release branch"):
			doubt = " (DATA001: " + f.Observed + ")"
		default:
			t.Errorf("%s: %s %s %s: %s; want %s", name, f.Severity, f.ID, f.Object, f.Observed, f.Expected)
		}
	}
	return doubt
}

func evaluate(t *testing.T, cat *catalog.Catalog, dir, from string) *skew.Result {
	t.Helper()
	c := kube.NewCollector(kube.Options{Catalog: cat})
	if _, err := manifests.Read(t.Context(), c, []string{dir}, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	inv := c.Inventory()
	for _, p := range inv.Problems {
		t.Errorf("%s: %+v", dir, p)
	}
	res, err := skew.Evaluate(cat, inv, skew.Request{From: from, Static: true, Now: cat.AsOf})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func write(t *testing.T, folder *csidriver.Folder) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range folder.Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestJudgesSee holds TestServed to be able to fail: the same judges speak of a
// folder for another release, and of one whose image was changed by hand.
func TestJudgesSee(t *testing.T) {
	cat := load(t)
	folder, err := csidriver.Render(cat, csidriver.Options{Driver: "vsphere", For: release(t, "4.18")})
	if err != nil {
		t.Fatal(err)
	}
	if res := evaluate(t, cat, write(t, folder), "4.20"); finding.Worst(res.Findings) < finding.Warn {
		t.Errorf("two minors behind is %v", res.Verdict)
	}
	for i, f := range folder.Files {
		folder.Files[i].Data = []byte(strings.ReplaceAll(string(f.Data), "driver:v3.3.1", "driver:v3.5.0"))
	}
	if res := evaluate(t, cat, write(t, folder), "4.20"); finding.Worst(res.Findings) != finding.Block {
		t.Errorf("a changed tag alone is %v", res.Verdict)
	}
}
