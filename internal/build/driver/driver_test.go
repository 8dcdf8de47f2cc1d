package driver

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// The descriptor that go-containerregistry gives programs of Windows layers, too:
// https://github.com/google/go-containerregistry/blob/v0.22.1/internal/windows/windows.go.
func TestOwner(t *testing.T) {
	if got, want := owner(), "AQAAgBQAAAAkAAAAAAAAAAAAAAABAgAAAAAABSAAAAAhAgAAAQIAAAAAAAUgAAAAIQIAAA=="; got != want {
		t.Errorf("the owner is %s, want %s", got, want)
	}
}

// What a node of a build starts, by containerd's matcher.
func TestFits(t *testing.T) {
	for _, c := range []struct {
		image, node int
		want        bool
	}{{20348, 20348, true}, {20348, 26100, true}, {26100, 20348, false}, {17763, 20348, false}, {17763, 17763, true}, {0, 26100, true}} {
		if got := (&Base{Build: c.image}).fits(c.node); got != c.want {
			t.Errorf("an image of %d on %d: %t, want %t", c.image, c.node, got, c.want)
		}
	}
}

// A set of drivers in both modes shares its sidecars, so they need a base that starts
// in both.
func TestSidecarsMode(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s := &Source{Build: cat.Build("livenessprobe")}
	bare, whole := &Base{}, &Base{Build: 20348}
	for _, c := range []struct {
		bases []*Base
		want  bool
	}{{[]*Base{bare}, true}, {[]*Base{whole}, false}, {[]*Base{bare, whole}, false}} {
		if got, err := s.HostProcess(cat, csidriver.Auto, c.bases); err != nil || got != c.want {
			t.Errorf("%d bases: in HostProcess %t, %v, want %t", len(c.bases), got, err, c.want)
		}
	}
}

func TestCheckPayload(t *testing.T) {
	for _, c := range []struct{ payload, architecture, wanted, want string }{
		{"4.20.6", "amd64", "4.20.6", ""}, {"4.20.6", "", "4.20", ""},
		{"4.20.6", "", "4.20.7", "--for says 4.20.7"}, {"4.20.6", "", "4.21", "--for says 4.21"},
		{"4.20.0-okd-scos.6", "", "4.20", "OKD"}, {"", "", "4.20", "no OpenShift release"},
		{"4.20.6", "arm64", "4.20.6", "the payload is for arm64"},
	} {
		wanted, err := version.ParseOpenShift(c.wanted)
		if err != nil {
			t.Fatal(err)
		}
		err = CheckPayload(&inventory.Payload{Version: c.payload, Architecture: c.architecture}, wanted)
		if err == nil && c.want != "" || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s for %s: %v, want %q", c.payload, c.wanted, err, c.want)
		}
	}
}

// Every driver that can be built has a mode at each release, the one that its
// manifest is written in.
func TestModesAgreeWithManifests(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range cat.Builds {
		for _, h := range cat.Builds[i].Heads {
			release, err := version.ParseOpenShift(h.OpenShift)
			if err != nil {
				t.Fatal(err)
			}
			s, err := Find(cat, cat.Builds[i].Name, release, nil)
			if err != nil {
				t.Errorf("%s for %s: %v", cat.Builds[i].Name, h.OpenShift, err)
				continue
			}
			hostProcess, err := s.HostProcess(cat, csidriver.Auto, nil)
			if err != nil || cat.Builds[i].Sidecar() {
				if err != nil {
					t.Errorf("%s for %s: %v", cat.Builds[i].Name, h.OpenShift, err)
				}
				continue
			}
			_, written, err := csidriver.Choose(cat, csidriver.Options{Driver: cat.Builds[i].Name, For: release, Mode: csidriver.Auto, Image: "x"})
			if err != nil {
				continue // there is no manifest for this release
			}
			seen++
			if hostProcess != written {
				t.Errorf("%s for %s: built for HostProcess %t, deployed so %t", cat.Builds[i].Name, h.OpenShift, hostProcess, written)
			}
		}
	}
	if seen != 55 {
		t.Errorf("%d pairs were compared", seen)
	}
}
