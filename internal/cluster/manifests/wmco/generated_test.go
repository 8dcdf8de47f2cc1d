package wmco

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/build/pins"
	"github.com/winbake/winbake/internal/cluster/manifests"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

// generated are WMCO's own services, as JSON, by cluster: testdata/generated.txt.
func generated(t *testing.T) map[Cluster]string {
	t.Helper()
	text, err := os.ReadFile("testdata/generated.txt")
	if err != nil {
		t.Fatal(err)
	}
	services, clusters := map[string]string{}, map[Cluster]string{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(rest, "{") {
			services[name] = rest
		} else if fields := strings.Fields(rest); name != "" && name != "#" {
			port, _ := strconv.ParseUint(fields[1], 10, 16)
			var all []string
			for _, f := range fields[2:] {
				all = append(all, services[f])
			}
			clusters[Cluster{Release: name, Cloud: fields[0], VXLANPort: uint16(port)}] = "[" + strings.Join(all, ",") + "]"
		}
	}
	return clusters
}

// marshal writes services as the release's operator does.
func marshal(t *testing.T, c Cluster, services []winsvc.Service) string {
	t.Helper()
	v, err := version.ParseOpenShift(c.Release)
	if err != nil {
		t.Fatal(err)
	}
	operator := version.WMCO{Major: 10, Minor: v.Minor} // 4.14's is 9: it sets up the same
	if v.Major == 5 {
		operator = version.WMCO{Major: 11}
	}
	entries, err := manifests.Entries(operator, services)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(entries)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// noWarning is for declared services that say what WMCO says.
func noWarning(t *testing.T) func(service, what string) {
	return func(service, what string) { t.Errorf("warning: %s: %s", service, what) }
}

// Every release on every cloud, byte for byte.
func TestSameAsGenerated(t *testing.T) {
	want := generated(t)
	for c, want := range want {
		services, err := c.Services(nil, noWarning(t))
		if err != nil {
			t.Fatal(err)
		}
		if got := marshal(t, c, services); got != want {
			t.Errorf("%+v:\n got %s\nwant %s", c, got, want)
		}
	}
	for _, release := range load().Releases {
		for _, cloud := range Clouds() {
			if c := (Cluster{Release: release, Cloud: cloud}); want[c] == "" {
				t.Errorf("testdata/generated.txt has nothing for %+v", c)
			}
		}
	}
}

// The services that this repository declares are WMCO's, so that they change
// nothing on any cloud.
func TestDeclaredServicesAreWMCOs(t *testing.T) {
	want := generated(t)
	for _, path := range []string{"versions.yaml", "examples/wmco/versions.yaml", "examples/openshift-4.15/versions.yaml"} {
		file, err := pins.Load(filepath.Join("../../../..", path))
		if err != nil {
			t.Fatal(err)
		}
		for _, cloud := range Clouds() {
			c := Cluster{Release: file.Release, Cloud: cloud}
			services, err := c.Services(file.Definitions(), noWarning(t))
			if err != nil {
				t.Fatal(err)
			}
			if got := marshal(t, c, services); got != want[c] {
				t.Errorf("%s on %s:\n got %s\nwant %s", path, cloud, got, want[c])
			}
		}
	}
}
