package skew_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// routineMinors are the releases that updates go through one by one.
var routineMinors = []string{"4.12", "4.13", "4.14", "4.15", "4.16", "4.17", "4.18", "4.19", "4.20", "4.21", "4.22", "5.0"}

// routineUpdates are the updates by one minor of clusters whose Windows driver is
// the version that their release ships, on nodes that run its images. patch is
// what the target has behind its minor.
func routineUpdates(t *testing.T, patch string, visit func(name string, r *skew.Result)) {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	drivers := map[string]func(string) inventory.Driver{
		"vsphere": vsphere, "aws-ebs": ebs, "azure-disk": azureDisk, "azure-file": azureFile,
		"gcp-pd": func(tag string) inventory.Driver {
			return windowsDriver("gcp-pd", "pd.csi.storage.gke.io", tag, "disk-v1", "filesystem-v1", "volume-v1")
		},
	}
	for i, from := range routineMinors[:len(routineMinors)-1] {
		r := c.Releases[slices.IndexFunc(c.Releases, func(r catalog.Release) bool { return r.OpenShift == from })]
		w := c.WMCOFor(from)
		for name, driver := range drivers {
			rows := r.Drivers[name]
			d := driver("v" + rows[len(rows)-1].Version)
			inv := clusterOf(from, w[len(w)-1].From, d)
			line := c.Driver(name).Line(d.Version.Version)
			if line.HostProcess == catalog.HostProcessMandatory {
				onWindows(hostProcess)(inv)
			} else if !line.HasImageFor(20348, "") {
				// WMCO takes no Server 2019 there, so the image is of bake driver.
				onWindows(func(d *inventory.Driver) { d.Version.Commit = strings.Repeat("1", 40) })(inv)
			}
			to := routineMinors[i+1]
			res, err := skew.Evaluate(c, inv, skew.Request{To: to + patch, Now: c.AsOf})
			if err != nil {
				t.Fatal(err)
			}
			visit(fmt.Sprintf("%s %s to %s", name, from, to), res)
		}
	}
}

// An update that only makes the distance asks nothing of an admin before it. What
// is left has a ground of its own, and is listed here with it.
func TestRoutineUpdates(t *testing.T) {
	grounds := map[string]string{
		"azure-disk 4.12 to 4.13": "PROXY001", "azure-file 4.12 to 4.13": "PROXY001", "gcp-pd 4.12 to 4.13": "PROXY001", "aws-ebs 4.12 to 4.13": "PROXY001",
		"vsphere 4.12 to 4.13": "PROXY001 SKEW002", // and 3.x follows 2.x
		"vsphere 4.19 to 4.20": "HP005",            // from csi-proxy to HostProcess
	}
	n := 0
	routineUpdates(t, "", func(name string, r *skew.Result) {
		n++
		var loud []string
		for _, f := range r.Findings {
			if f.Severity >= finding.Warn && !slices.Contains(loud, f.ID) {
				loud = append(loud, f.ID)
			}
		}
		slices.Sort(loud)
		if got := strings.Join(loud, " "); got != grounds[name] || r.Verdict > finding.Warn {
			t.Errorf("%s: %s by %q, want it by %q", name, r.Verdict, got, grounds[name])
		}
	})
	if n != 55 {
		t.Errorf("%d updates", n)
	}
}

// Nothing has to be done before a routine update of a cluster that is offered a patch.
func TestRoutineUpdatesAskForNothingBefore(t *testing.T) {
	routineUpdates(t, ".20", func(name string, r *skew.Result) {
		for _, f := range r.Findings {
			if f.Severity > finding.Warn || f.Severity == finding.Warn && f.When == "before" {
				t.Errorf("%s: %+v", name, f)
			}
		}
	})
}

// The step that follows Linux is in the plan though nothing has to be done
// before the update.
func TestRoutineUpdateIsPlanned(t *testing.T) {
	inv := clusterOf("4.20", "10.20.0", vsphereHostProcess("v3.5.0"))
	r := evaluate(t, inv, skew.Request{To: "4.21"})
	if r.Verdict != finding.Pass {
		t.Errorf("the verdict is %s", r.Verdict)
	}
	if !slices.ContainsFunc(r.Steps, func(s skew.Step) bool { return slices.Contains(s.Rules, "SKEW001") && s.When == "after" }) {
		t.Errorf("no step brings the driver to the Linux version: %+v", r.Steps)
	}
}
