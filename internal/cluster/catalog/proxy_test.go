package catalog

import (
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
)

func TestProxy(t *testing.T) {
	c := load(t)
	for tag, want := range map[string]string{
		"v0.0.9":             "",
		"v0.2.2":             "0.2.2",
		"v1.0.0-rc.1":        "1.0.0-rc.1",
		"v1.1.3":             "1.1.3",
		"v1.1.3-0-g0211fea":  "1.1.3",
		"v1.1.3-27-gabcdef0": "1.1.3",
		"v1.1.3-28-g0939e7a": "1.1.3-28-g0939e7a",
		"v1.1.3-30-gabcdef0": "1.1.3-28-g0939e7a",
		"v1.1.3-34-g5cb6e2d": "1.1.3-34-g5cb6e2d",
		"v1.2.0":             "1.2.0",
		"v1.3.0":             "1.3.0",
		"v1.4.2":             "1.3.0",
		"v2.0.0-alpha.1":     "",
	} {
		got := ""
		if r := c.Proxy(version.MustDriver(tag)); r != nil {
			got = r.Version
		}
		if got != want {
			t.Errorf("%s: %q, want %q", tag, got, want)
		}
	}
	if r := c.Proxy(version.Driver{}); r != nil {
		t.Errorf("no version: %+v", r)
	}
}

func TestProxyByCommit(t *testing.T) {
	c := load(t)
	for commit, want := range map[string]string{
		"5cb6e2d": "1.1.3-34-g5cb6e2d", "0939E7A9D087": "1.1.3-28-g0939e7a", "0211feaf25cd": "1.1.3", "5cb6e2": "", "fffffff": "",
	} {
		got := ""
		if r := c.ProxyByCommit(commit); r != nil {
			got = r.Version
		}
		if got != want {
			t.Errorf("%s: %q, want %q", commit, got, want)
		}
	}
}

// TestCSIProxyReleases: nothing is taken away, 23 pipes since 1.1.0, wmic until
// 1.3.0, the CVE until 1.1.3.
func TestCSIProxyReleases(t *testing.T) {
	c := load(t)
	counts := map[string]int{"0.1.0": 4, "0.2.0": 6, "0.2.1": 8, "0.2.2": 12, "1.0.0": 21, "1.1.0": 23, "1.1.3-34-g5cb6e2d": 23, "1.3.0": 23}
	for i, r := range c.CSIProxy {
		if want, ok := counts[r.Version]; ok && len(r.Groups) != want {
			t.Errorf("%s serves %d groups, want %d", r.Version, len(r.Groups), want)
		}
		v := version.MustDriver(r.Version)
		if want := v.Compare(version.MustDriver("0.2.2")) >= 0 && v.Compare(version.MustDriver("1.3.0")) < 0; r.WMIC != want {
			t.Errorf("%s: wmic %v, want %v", r.Version, r.WMIC, want)
		}
		if want := v.Compare(version.MustDriver("1.1.3")) < 0; slices.Contains(r.CVEs, "CVE-2023-3893") != want {
			t.Errorf("%s: CVEs %v", r.Version, r.CVEs)
		}
		if want := v.Compare(version.MustDriver("1.1.3-28-g0939e7a")) >= 0; slices.Contains(r.Flags, "-require-privacy") != want {
			t.Errorf("%s: flags %v", r.Version, r.Flags)
		}
		if i == 0 {
			continue
		}
		for _, g := range c.CSIProxy[i-1].Groups {
			if !slices.Contains(r.Groups, g) {
				t.Errorf("%s doesn't serve %s, which %s did", r.Version, g, c.CSIProxy[i-1].Version)
			}
		}
	}
}

func TestServes(t *testing.T) {
	r := load(t).ProxyRelease("0.2.2")
	if !r.Serves("disk", "v1beta2") || r.Serves("disk", "v1") || r.Serves("", "") {
		t.Error("0.2.2 serves disk-v1beta2 and not disk-v1")
	}
	if load(t).ProxyRelease("v0.2.2") != nil {
		t.Error("a name that isn't the catalog's is found")
	}
}

func TestWMCORelease(t *testing.T) {
	c := load(t)
	for tag, want := range map[string][2]string{
		"7.1.0":           {"4.12", ""},
		"7.2.0":           {"4.12", "1.1.3"},
		"8.0.1":           {"4.13", ""},
		"8.1.0":           {"4.13", "1.1.3"},
		"9.0.3-1a2b3c4":   {"4.14", "1.1.3"},
		"10.17.0-abc1234": {"4.17", "1.1.3"},
		"10.17.1-abc1234": {"4.17", "1.1.3-28-g0939e7a"},
		"10.18.2":         {"4.18", "1.1.3-28-g0939e7a"},
		"10.22.1":         {"4.22", "1.1.3-34-g5cb6e2d"},
		"11.0.0":          {"5.0", "1.1.3-34-g5cb6e2d"},
		"10.14.0":         {},
		"2.0.0":           {},
		"12.0.0":          {},
	} {
		v, err := version.ParseWMCO(tag)
		if err != nil {
			t.Fatal(err)
		}
		var got [2]string
		if w := c.WMCORelease(v); w != nil {
			got = [2]string{w.OpenShift, w.CSIProxy}
		}
		if got != want {
			t.Errorf("%s: %v, want %v", tag, got, want)
		}
	}
	for _, r := range c.Releases {
		if got := c.WMCOFor(r.OpenShift); len(got) == 0 && r.OpenShift != "4.23" {
			t.Errorf("no WMCO is for %s", r.OpenShift)
		}
	}
}
