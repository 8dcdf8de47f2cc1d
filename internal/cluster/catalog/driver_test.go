package catalog

import (
	"testing"

	"github.com/winbake/winbake/internal/base/version"
)

func TestLine(t *testing.T) {
	c := load(t)
	cases := []struct {
		driver, tag string
		want        *Line // of it: From, HostProcess, Flag, ImageSuffix
	}{
		{"aws-ebs", "v0.9.1", nil},
		{"aws-ebs", "v1.26.1", &Line{From: "1.19.0", HostProcess: HostProcessNone}},
		{"aws-ebs", "v1.30.0", &Line{From: "1.19.0", HostProcess: HostProcessNone}},
		{"aws-ebs", "v1.31.0", &Line{From: "1.31.0", HostProcess: HostProcessOptional, Flag: "--windows-host-process"}},
		{"aws-ebs", "v1.36.0-eksbuild.1", &Line{From: "1.31.0", HostProcess: HostProcessOptional, Flag: "--windows-host-process"}},
		{"aws-ebs", "v1.64.0", &Line{From: "1.63.0", HostProcess: HostProcessOptional, Flag: "--windows-host-process"}},
		{"azure-disk", "v1.13.0", &Line{From: "1.10.0", HostProcess: HostProcessNone}},
		{"azure-disk", "v1.14.0", &Line{From: "1.14.0", HostProcess: HostProcessOptional}},
		{"azure-disk", "v1.28.0", &Line{From: "1.28.0", HostProcess: HostProcessOptional, Flag: "--enable-windows-host-process", ImageSuffix: "windows-hp"}},
		{"azure-disk", "v1.29.2-windows-hp", &Line{From: "1.28.0", HostProcess: HostProcessOptional, Flag: "--enable-windows-host-process", ImageSuffix: "windows-hp"}},
		{"azure-disk", "v1.30.3", &Line{From: "1.28.0", HostProcess: HostProcessOptional, Flag: "--enable-windows-host-process", ImageSuffix: "windows-hp"}},
		{"azure-disk", "v1.30.4", &Line{From: "1.30.4", HostProcess: HostProcessDefault, Flag: "--enable-windows-host-process", ImageSuffix: "windows-hp"}},
		{"azure-disk", "v2.0.0-beta.6", &Line{From: "2.0.0", HostProcess: HostProcessOptional}},
		{"azure-file", "v1.26.2", &Line{From: "1.26.2", HostProcess: HostProcessNone}},
		{"azure-file", "v1.27.0", &Line{From: "1.27.0", HostProcess: HostProcessOptional, Flag: "--enable-windows-host-process"}},
		{"azure-file", "v1.30.4", &Line{From: "1.28.0", HostProcess: HostProcessOptional, Flag: "--enable-windows-host-process", ImageSuffix: "windows-hp"}},
		{"azure-file", "v1.30.5", &Line{From: "1.30.5", HostProcess: HostProcessDefault, Flag: "--enable-windows-host-process", ImageSuffix: "windows-hp"}},
		{"gcp-pd", "v1.8.2-rc1", &Line{From: "1.8.0", HostProcess: HostProcessNone}},
		{"gcp-pd", "v1.24.1", &Line{From: "1.18.0", HostProcess: HostProcessNone}},
		{"smb", "v1.16.0", &Line{From: "1.11.0", HostProcess: HostProcessNone}},
		{"smb", "v1.17.0", &Line{From: "1.17.0", HostProcess: HostProcessDefault, Flag: "--enable-windows-host-process", ImageSuffix: "windows-hp"}},
		{"vsphere", "v2.3.0", nil},
		{"vsphere", "v3.3.0", &Line{From: "2.7.1", HostProcess: HostProcessNone}},
		{"vsphere", "v3.4.0", &Line{From: "2.7.1", HostProcess: HostProcessNone}},
		// The last rc is what OpenShift merges: it is 3.5.0 and not 3.4.
		{"vsphere", "v3.5.0-rc.3", &Line{From: "3.5.0", HostProcess: HostProcessMandatory}},
		{"vsphere", "v3.5.0", &Line{From: "3.5.0", HostProcess: HostProcessMandatory}},
		{"secrets-store", "v1.5.2", &Line{From: "1.5.0", HostProcess: HostProcessNone}},
		{"trident", "26.06.0", &Line{From: "24.06.1", HostProcess: HostProcessNone}},
	}
	for _, tc := range cases {
		got := c.Driver(tc.driver).Line(version.MustDriver(tc.tag))
		if (got == nil) != (tc.want == nil) {
			t.Errorf("%s %s: %+v, want %+v", tc.driver, tc.tag, got, tc.want)
			continue
		}
		if got != nil && (got.From != tc.want.From || got.HostProcess != tc.want.HostProcess || got.Flag != tc.want.Flag || got.ImageSuffix != tc.want.ImageSuffix) {
			t.Errorf("%s %s: %s %s %q %q, want %+v", tc.driver, tc.tag, got.From, got.HostProcess, got.Flag, got.ImageSuffix, tc.want)
		}
	}
}

// TestWMIC: who needs wmic on the node, through csi-proxy or by itself.
func TestWMIC(t *testing.T) {
	vsphere := load(t).Driver("vsphere")
	for tag, want := range map[string][2]bool{
		"3.3.1": {true, false}, "3.4.0": {true, false}, "3.5.0": {false, true}, "3.7.1": {false, true}, "3.8.0": {false, false},
	} {
		l := vsphere.Line(version.MustDriver(tag))
		if unreleased := tag == "3.8.0"; l.Unreleased != unreleased {
			t.Errorf("%s: unreleased %t", tag, l.Unreleased)
		}
		if l.WMIC != want[0] || l.RunsWMIC != want[1] {
			t.Errorf("%s: %v %v, want %v", tag, l.WMIC, l.RunsWMIC, want)
		}
	}
}

// TestLinesUseKnownPipes: what a driver dials first is served by some csi-proxy.
func TestLinesUseKnownPipes(t *testing.T) {
	c := load(t)
	newest := c.Proxy(version.MustDriver("1.3.0"))
	for _, d := range c.Drivers {
		if len(d.Lines) == 0 {
			t.Errorf("%s has no lines", d.Name)
		}
		for _, l := range d.Lines {
			for _, use := range l.API {
				for _, v := range use.Versions {
					if !newest.Serves(use.Group, v) {
						t.Errorf("%s %s dials %s-%s, which %s doesn't serve", d.Name, l.From, use.Group, v, newest.Version)
					}
				}
			}
		}
	}
}

func TestFindDriver(t *testing.T) {
	c := load(t)
	name := func(d *Driver) string {
		if d == nil {
			return ""
		}
		return d.Name
	}
	for _, tc := range []struct{ how, what, got, want string }{
		{"name", "smb", name(c.Driver("smb")), "smb"},
		{"name", "", name(c.Driver("")), ""},
		{"provisioner", "disk.csi.azure.com", name(c.ByProvisioner("disk.csi.azure.com")), "azure-disk"},
		{"provisioner", "CSI.vSphere.VMware.com", name(c.ByProvisioner("CSI.vSphere.VMware.com")), "vsphere"},
		{"provisioner", "", name(c.ByProvisioner("")), ""},
		{"in-tree", "kubernetes.io/gce-pd", name(c.ByInTree("kubernetes.io/gce-pd")), "gcp-pd"},
		{"in-tree", "", name(c.ByInTree("")), ""},
	} {
		if tc.got != tc.want {
			t.Errorf("by %s %q: %q, want %q", tc.how, tc.what, tc.got, tc.want)
		}
	}
}

func TestByCommit(t *testing.T) {
	c := load(t)
	cases := []struct{ driver, commit, want string }{
		// The five commits of a real payload, 4.10.0-0.nightly-2021-11-14-184249.
		{"aws-ebs", "8741c5f4c53d", "1.2.0"},
		{"azure-file", "19be5d3de0ef", "1.7.0"},
		{"gcp-pd", "7405b5bb9e33", "1.3.1"},
		{"vsphere", "6fa85bdbeda0", "2.4.0-rc.1"},
		// Longer than ours is, in capitals.
		{"vsphere", "6fa85bdbeda00000000000000000000000000000", "2.4.0-rc.1"},
		{"vsphere", "6FA85BDBEDA0", "2.4.0-rc.1"},
		// A rebase and its revert: 4.22's EBS, 4.15's vSphere.
		{"aws-ebs", "dc7de907357d", "1.55.0"},
		{"aws-ebs", "0927af1c1397", "1.48.0"},
		{"vsphere", "74481e34aa9c", "3.0.2"},
		// Too short, another driver's, nobody's.
		{"vsphere", "6fa85bd", ""},
		{"aws-ebs", "6fa85bdbeda0", ""},
		{"vsphere", "ffffffffffff", ""},
		{"vsphere", "", ""},
	}
	for _, tc := range cases {
		if got, ok := c.ByCommit(tc.driver, tc.commit); got.Version != tc.want || ok != (tc.want != "") {
			t.Errorf("%s %s: %q %v, want %q", tc.driver, tc.commit, got.Version, ok, tc.want)
		}
	}
	for _, known := range c.Commits {
		if version.MustDriver(known.Version).Major > 100 {
			t.Errorf("%s %s is a sentinel, %s", known.Driver, known.Commit, known.Version)
		}
	}
}

func TestIncompatibilities(t *testing.T) {
	c := load(t)
	cases := []struct {
		driver, linux, windows string
		want                   string
	}{
		// EBS 4.17 to 4.18 with 1.26 on Windows: it is the target that breaks.
		{"aws-ebs", "1.32.0", "1.26.0", ""},
		{"aws-ebs", "1.34.0", "1.26.0", "ebs-topology-key"},
		{"aws-ebs", "1.34.0", "1.28.0", ""},
		{"aws-ebs", "1.33.0", "1.27.9-eksbuild.1", "ebs-topology-key"},
		{"azure-disk", "1.34.2", "2.0.0-beta.5", "azuredisk-v2-beta"},
		{"azure-disk", "1.34.2", "1.16.0", ""},
	}
	for _, tc := range cases {
		got := ""
		for _, i := range c.Incompatible {
			if i.Driver == tc.driver && i.Holds(version.MustDriver(tc.linux), version.MustDriver(tc.windows)) {
				got += i.ID
			}
		}
		if got != tc.want {
			t.Errorf("%s %s with %s: %q, want %q", tc.driver, tc.linux, tc.windows, got, tc.want)
		}
	}
	if (&Incompatibility{Linux: "no range", Windows: "no range"}).Holds(version.MustDriver("1.0.0"), version.MustDriver("1.0.0")) {
		t.Error("a range that can't be read holds")
	}
}
