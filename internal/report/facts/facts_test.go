package facts

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
)

func TestCatalogShowsEveryRelease(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Catalog(&out, c); err != nil {
		t.Fatal(err)
	}
	for _, r := range c.Releases {
		if !strings.Contains(out.String(), "\n"+r.OpenShift+" ") {
			t.Errorf("no row for %s", r.OpenShift)
		}
	}
	if !strings.Contains(out.String(), c.AsOf) {
		t.Error("the table doesn't say its date")
	}
	for i := range c.Drivers {
		out.Reset()
		if err := Driver(&out, c, &c.Drivers[i]); err != nil {
			t.Fatal(err)
		}
		for _, e := range c.Drivers[i].Evidence {
			if !strings.Contains(out.String(), e.Source) {
				t.Errorf("%s: no evidence %s", c.Drivers[i].Name, e.Source)
			}
		}
		for _, p := range c.Drivers[i].Published {
			for _, want := range []string{p.Repository, p.Render, p.Deploys, between(p.From, p.Until), p.Evidence[0].Source} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%s: %q isn't shown", c.Drivers[i].Name, want)
				}
			}
			if p.HasManifest() && !strings.Contains(out.String(), p.Manifest) {
				t.Errorf("%s: manifest %q", c.Drivers[i].Name, p.Manifest)
			}
		}
	}
}

// TestReleaseShowsWhatItsOperatorDemands: each file with when and where, and the
// lists that say so.
func TestReleaseShowsWhatItsOperatorDemands(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for release, want := range map[string][]string{
		"4.20": {
			"\nazure-cloud-node-manager.exe  to start  on Azure\n",
			"\necr-credential-provider.exe  to configure a node on AWS  on AWS\n",
			"\npowershell/hns.psm1  to start  all\n",
			"cmd/operator/main.go#L132-L148: what WMCO demands to start\n",
			"pkg/windows/windows.go#L206-L233: what WMCO demands to configure a node\n",
		},
		"4.12": {"\nazure-cloud-node-manager.exe  to start  all\n", "\nwindows_exporter.exe  to start  all\n"},
	} {
		releaseSays(t, c, release, want...)
	}
	var out bytes.Buffer
	if err := Release(&out, c, about(t, c, "4.11")); err != nil || strings.Contains(out.String(), "WMCO'S PAYLOAD") {
		t.Errorf("4.11, whose operator nobody looked at: %v\n%s", err, out.String())
	}
}

func TestPublished(t *testing.T) {
	for _, tc := range []struct {
		p               catalog.Publication
		image, manifest string
	}{
		{catalog.Publication{Manifest: "https://x/{{version}}.yaml", Repository: "r/x", Also: []string{"s/x", "t/x"}, SetImage: true, Missing: []string{"1.2.0", "1.3.0"}},
			"r/x (also s/x, t/x)", "https://x/{{version}}.yaml, with its image set to that of the version, which isn't there for 1.2.0, 1.3.0"},
		{catalog.Publication{Render: "helm template x", Repository: "r/x", Unsure: true}, "r/x, not every version's was seen there", "helm template x"},
		{catalog.Publication{Render: "x", Repository: "r/x", Former: []string{"s/x"}}, "r/x; gone: s/x", "x"},
		{catalog.Publication{Render: "x", Former: []string{"s/x"}}, "nowhere any more; gone: s/x", "x"},
		{catalog.Publication{Deploys: "the operator"}, "not known", "the operator brings the DaemonSet"},
		{catalog.Publication{Manifest: "unknown"}, "not known", "where the manifest is wasn't seen"},
	} {
		if got := images(&tc.p); got != tc.image {
			t.Errorf("image %q, want %q", got, tc.image)
		}
		if got := manifest(&tc.p); got != tc.manifest {
			t.Errorf("manifest %q, want %q", got, tc.manifest)
		}
	}
}

func TestPatches(t *testing.T) {
	at := func(n int) *int { return &n }
	for want, s := range map[string]catalog.Shipped{
		"all":                           {},
		"to 4.14.24":                    {UntilZ: at(24)},
		"from 4.14.25":                  {FromZ: at(25)},
		"4.14.1 to .8 (give or take 1)": {FromZ: at(1), UntilZ: at(8), FuzzyZ: 1},
	} {
		if got := patches("4.14", s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A catalog of one's own can't steer the terminal or forge a line.
func TestHostileStrings(t *testing.T) {
	const evil = "a\x1b[2J\nDaemonSet forged\u202e"
	c := &catalog.Catalog{}
	var out bytes.Buffer
	if err := Driver(&out, c, &catalog.Driver{Name: evil, Title: evil, Provisioner: evil}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\u202e") {
		t.Errorf("control characters came through:\n%q", out.String())
	}
	if slices.Contains(strings.Split(out.String(), "\n"), "DaemonSet forged") {
		t.Error("a name made a line of its own")
	}
}

// releaseSays holds what is printed of a release to texts, columns two blanks apart.
func releaseSays(t *testing.T, c *catalog.Catalog, release string, want ...string) {
	t.Helper()
	var out bytes.Buffer
	if err := Release(&out, c, about(t, c, release)); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`  +`).ReplaceAllString(out.String(), "  ")
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s: %q isn't in\n%s", release, w, text)
		}
	}
}

func about(t *testing.T, c *catalog.Catalog, release string) *catalog.About {
	t.Helper()
	v, err := version.ParseOpenShift(release)
	if err != nil {
		t.Fatal(err)
	}
	return c.About(v)
}

// TestReleaseShowsAllThatIsKnown: each part, of a minor and of a patch.
func TestReleaseShowsAllThatIsKnown(t *testing.T) {
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	for release, want := range map[string][]string{
		"4.20": {
			"OpenShift 4.20: Kubernetes 1.33, kubelets from 1.31 on, updates to 4.21\n",
			"\nvsphere  3.5.0  all  exact\n", "\nvsphere  3.5.0  mandatory  ",
			"\nopenshift/vmware-vsphere-csi-driver  0363addf5f2c19322d24a3f61c7b2684da16ead1  3.5.0  2026-05-13\n",
			"\nopenshift/csi-livenessprobe  ", "\n10.20.0 to before 10.21.0  1.1.3-34-g5cb6e2d  disk-v1", "\nkubernetes.io/vsphere-volume  removed  removed\n", "20348 (2022)",
			"windows-machine-config-operator@",
		},
		"4.12":   {"kubelets from 1.23 on", "\nack-4.12-kube-126-vsphere-migration-in-4.14  4.12 to 4.13  vCenter", "\nack-4.11-", "  4.11 to 4.12  "},
		"4.13.0": {"OpenShift 4.13.0: ", "\nvsphere  3.0.0-rc.1  "},
		"4.8":    {"\n3.0.0 to before 4.0.0  none\n", "; WMCO's lacks disk, "},
	} {
		releaseSays(t, c, release, want...)
	}
	// A patch narrows the drivers to what it ships.
	for _, d := range about(t, c, "4.13.9").Windows {
		if d.Driver == "azure-disk" && d.Version == "1.26.7" {
			t.Errorf("4.13.9 has what came in a later patch: %+v", d)
		}
	}
	if len(about(t, c, "4.13").Drivers["azure-disk"]) != 2 || len(about(t, c, "4.13.9").Drivers["azure-disk"]) != 1 {
		t.Error("a patch has as many rows as its minor")
	}
	if c.About(version.OpenShift{Major: 9, Minor: 9}) != nil {
		t.Error("9.9 is known")
	}
}
