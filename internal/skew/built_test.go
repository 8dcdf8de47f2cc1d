package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// Where no published image fits, the plan builds one of the release's own commit, and
// one that was built follows the release by being built again.
func TestNoImageFits(t *testing.T) {
	gcp := func(tag string) inventory.Driver {
		return windowsDriver("gcp-pd", "pd.csi.storage.gke.io", tag, "disk-v1", "filesystem-v1", "volume-v1")
	}
	former := vsphere("v2.7.2")
	former.Image = inventory.Image{Reference: "gcr.io/cloud-provider-vsphere/csi/release/driver:v2.7.2", Repository: "gcr.io/cloud-provider-vsphere/csi/release/driver", Tag: "v2.7.2"}
	starts := all(registers(nil), onWindows(func(d *inventory.Driver) { d.Rollout = nil })) // nobody has seen it run
	own := onWindows(func(d *inventory.Driver) { d.Version.By, d.Version.Commit = "label", strings.Repeat("1", 40) })
	const core = `mcr.microsoft.com/windows/servercore@"$(skopeo inspect --override-os windows --format '{{.Digest}}' docker://mcr.microsoft.com/windows/servercore:ltsc`
	for _, tc := range []struct {
		name, from, to string
		inv            *inventory.Inventory
		change         change
		static         bool
		has            []string
		not            string
	}{
		{name: "the registry is gone", from: "4.14", inv: clusterOf("4.14", "9.0.0", former), not: "that you have kept", has: []string{
			`verify skew --image-version "$(cat vsphere-4.14.txt)=$(skopeo inspect `, ` --release-image release-4.14.txt`, "oc adm release info --commits > release-4.14.txt\nbake driver vsphere --for 4.14 --mode pipes --windows 2022 --release-image release-4.14.txt --base " + core + `2022)" --push "${REGISTRY:?}" > vsphere-4.14.txt` + "\n",
			`set image daemonset/vsphere-windows driver="$(cat vsphere-4.14.txt 2>/dev/null)"`}},
		{name: "and was for the next release too", from: "4.14", to: "4.15", inv: clusterOf("4.14", "9.0.0", former), not: "--for 4.14", has: []string{"bake driver vsphere --for 4.15"}},
		{name: "nodes of two versions", from: "4.14", inv: clusterOf("4.14", "9.0.0", former), change: func(inv *inventory.Inventory) { builds(inv, 17763, 20348, 20348) },
			has: []string{"--windows 2019,2022 ", core + "2019)", core + "2022)"}},
		{name: "a manifest without a cluster", from: "4.14", inv: clusterOf("4.14", "9.0.0", former), static: true, not: "bake driver", has: []string{"that you have kept"}},
		{name: "none for the nodes' Windows", from: "4.18", inv: clusterOf("4.18", "10.18.0", gcp("v1.15.2")), change: starts, not: "gcp-pd:v1.18.0", has: []string{"bake driver gcp-pd --for 4.18 ", "none for Windows Server 2022"}},
		{name: "and on the way to where there is one", from: "4.18", to: "4.20", inv: clusterOf("4.18", "10.18.0", gcp("v1.15.2")), change: starts,
			has: []string{"bake driver gcp-pd --for 4.18 ", "bake driver gcp-pd --for 4.19 ", "bake driver gcp-pd --for 4.20 ", `)" --release-image release-4.20.txt`}},
		{name: "one that was built", from: "4.18", inv: clusterOf("4.18", "10.18.0", gcp("v1.15.2")), change: all(starts, own), not: "NODE003"},
		{name: "one that was built follows", from: "4.20", to: "4.21", inv: clusterOf("4.20", "10.20.1", azureDisk("v1.33.1")), change: all(own, onWindows(hostProcess), onWindows(flagged(true))), not: "set image daemonset/azure-disk-windows driver=mirror", has: []string{
			"bake driver azure-disk --for 4.21 --mode hostprocess ", "windows-host-process-containers-base-image@"}},
		{name: "but on no base for Server 2025", from: "4.20", to: "4.21", inv: clusterOf("4.20", "10.20.1", azureDisk("v1.33.1")), change: all(own, onWindows(hostProcess), onWindows(flagged(true)), func(inv *inventory.Inventory) { builds(inv, 26100, 26100, 26100) }), not: "bake driver"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.change != nil {
				tc.change(tc.inv)
			}
			r := evaluate(t, tc.inv, skew.Request{From: tc.from, To: tc.to, Static: tc.static})
			text := plan(r)
			for _, f := range r.Findings {
				if f.Severity > finding.Info {
					text += f.ID + " " + told(f) + "\n"
				}
			}
			for _, has := range tc.has {
				if !strings.Contains(text, has) {
					t.Errorf("want %q in\n%s", has, text)
				}
			}
			if tc.not != "" && strings.Contains(text, tc.not) {
				t.Errorf("want no %q in\n%s", tc.not, text)
			}
		})
	}
}
