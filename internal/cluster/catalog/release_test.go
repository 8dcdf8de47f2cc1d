package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
)

func TestShips(t *testing.T) {
	c := load(t)
	cases := []struct{ release, driver, want string }{
		// A rebase inside a minor: the same minor isn't the same driver.
		{"4.14.24", "azure-file", "1.28.1"},
		{"4.14.27", "azure-file", "1.29.5"},
		{"4.14", "azure-file", "1.28.1,1.29.5"},
		{"4.12.20", "vsphere", "2.6.1"},
		{"4.12.21", "vsphere", "2.7.1-rc.1"},
		// OKD's patch is always 0, and so is that of builds; a candidate's is one.
		{"4.14.0-okd-scos.4", "azure-file", "1.28.1,1.29.5"},
		{"4.14.0-0.okd-2024-01-26-175629", "azure-file", "1.28.1,1.29.5"},
		{"4.14.0-0.nightly-2023-10-26-013420", "azure-file", "1.28.1,1.29.5"},
		{"4.14.0-0.ci-2023-10-26-013420", "azure-file", "1.28.1,1.29.5"},
		{"4.14.0-ec.3", "azure-file", "1.28.1"},
		{"4.14.0-fc.0", "azure-file", "1.28.1"},
		{"4.14.0-rc.7", "azure-file", "1.28.1"},
		{"4.14.0", "azure-file", "1.28.1"},
		// Edges that may be off by one patch.
		{"4.9.42", "aws-ebs", "1.2.0"},
		{"4.9.43", "aws-ebs", "1.2.0,1.4.0"},
		{"4.9.44", "aws-ebs", "1.2.0,1.4.0"},
		{"4.9.45", "aws-ebs", "1.4.0"},
		// Merged and reverted, cherry-picked, a tag v999 among the ancestors.
		{"4.22.3", "aws-ebs", "1.48.0"},
		{"4.15.9", "vsphere", "3.0.2"},
		{"4.10.1", "aws-ebs", "1.5.1"},
		{"4.20.0-rc.1", "gcp-pd", "1.20.0"},
		// Not shipped, not known.
		{"4.9.1", "azure-file", "-"},
		{"4.20.1", "trident", "-"},
		{"4.20.1", "nobody", "-"},
		{"4.7.1", "aws-ebs", "-"},
		{"6.0.1", "aws-ebs", "-"},
		{"5.0.0", "smb", "?"},
	}
	for _, tc := range cases {
		release, err := version.ParseOpenShift(tc.release)
		if err != nil {
			t.Fatal(err)
		}
		if got := cell(c.Ships(release, tc.driver)); got != tc.want {
			t.Errorf("%s in %s: %s, want %s", tc.driver, tc.release, got, tc.want)
		}
	}
}

func TestPath(t *testing.T) {
	c := load(t)
	cases := []struct {
		from, to string
		want     []string
		err      error
	}{
		{"4.19", "4.20", []string{"4.19", "4.20"}, nil},
		{"4.14", "4.18", []string{"4.14", "4.15", "4.16", "4.17", "4.18"}, nil},
		{"4.21", "5.0", []string{"4.21", "4.22", "5.0"}, nil},
		{"4.20", "4.20", []string{"4.20"}, nil},
		{"4.20.3", "4.21.1", []string{"4.20", "4.21"}, nil},
		{"4.20", "4.19", nil, ErrNoPath},
		{"4.22", "4.23", []string{"4.22", "4.23"}, nil},
		{"4.20", "4.99", nil, ErrUnknownRelease},
		{"3.11", "4.99", nil, ErrUnknownRelease},
		{"", "4.20", nil, ErrUnknownRelease},
	}
	for _, tc := range cases {
		got, err := c.Path(tc.from, tc.to)
		if !slices.Equal(got, tc.want) || !errors.Is(err, tc.err) {
			t.Errorf("%s to %s: %v, %v; want %v, %v", tc.from, tc.to, got, err, tc.want, tc.err)
		}
	}
	loop := &Catalog{Releases: []Release{{OpenShift: "4.1", Next: []string{"4.2", "4.9"}}, {OpenShift: "4.2", Next: []string{"4.1"}}, {OpenShift: "4.3"}}}
	if got, err := loop.Path("4.1", "4.3"); !errors.Is(err, ErrNoPath) {
		t.Errorf("a circle: %v, %v", got, err)
	}
}

func TestRelease(t *testing.T) {
	c := load(t)
	for minor, want := range map[string]*Release{
		"4.20": {Kubernetes: "1.33", KubeletSkew: 2}, "4.19.7": {Kubernetes: "1.32", KubeletSkew: 1},
		"5.0": {Kubernetes: "1.36", KubeletSkew: 2}, "4.2": nil, "4.200": nil, "x": nil,
	} {
		got := c.Release(minor)
		if (got == nil) != (want == nil) || got != nil && (got.Kubernetes != want.Kubernetes || got.KubeletSkew != want.KubeletSkew) {
			t.Errorf("%s: %+v, want %+v", minor, got, want)
		}
	}
	if got := c.Latest(); got == nil || got.OpenShift != "5.0" {
		t.Errorf("latest: %+v", got)
	}
	if got := new(Catalog).Latest(); got != nil {
		t.Errorf("the latest of nothing: %+v", got)
	}
	// A pull request proposes it for 5.x. A proposal is no fact.
	if got := c.Release("5.0").WindowsManaged; len(got) != 0 {
		t.Errorf("managed on Windows in 5.0: %v", got)
	}
	if p := c.Release("5.0").WindowsProposed; p == nil || !strings.HasSuffix(p.Source, "enhancements/pull/2072") || !slices.Equal(p.Drivers, []string{"azure-file", "vsphere"}) {
		t.Errorf("the proposal: %+v", p)
	}
}

func TestGatesOf(t *testing.T) {
	c := load(t)
	for _, tc := range []struct {
		from, to string
		want     int
	}{{"4.12", "4.13", 2}, {"4.13", "4.14", 2}, {"4.14", "4.15", 0}} {
		if got := c.GatesOf(tc.from, tc.to); len(got) != tc.want {
			t.Errorf("%s to %s: %v, want %d", tc.from, tc.to, got, tc.want)
		}
	}
}
