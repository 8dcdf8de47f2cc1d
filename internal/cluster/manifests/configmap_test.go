package manifests

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/windows/winsvc"
)

func configMap(t *testing.T, services []winsvc.Service) *ConfigMap {
	t.Helper()
	entries, err := Entries(version.WMCO{Major: 10, Minor: 20, Patch: 2}, services)
	if err != nil {
		t.Fatal(err)
	}
	return &ConfigMap{Name: NamePrefix + "10.20.2-0a2aa00", Namespace: Namespace, Services: entries, Watched: WatchedVariables()}
}

// What WMCO 10.20.2 marshals, where no cloud gives the kubelet arguments, is in
// testdata/wmco-10.20.2.*.json: the output of its own GenerateManifest and
// Generate. examples/wmco/versions.yaml declares the same, byte for byte.
func TestSameAsWMCOs(t *testing.T) {
	c := configMap(t, declared(t, "examples/wmco/versions.yaml"))
	data, err := c.data()
	if err != nil {
		t.Fatal(err)
	}
	if len(data) != 3 {
		t.Errorf("%d keys, WMCO writes 3", len(data))
	}
	for _, key := range []string{keyServices, keyFiles, keyWatched} {
		want, err := os.ReadFile("testdata/wmco-10.20.2." + key + ".json")
		if err != nil {
			t.Fatal(err)
		}
		if data[key] != strings.TrimSuffix(string(want), "\n") {
			t.Errorf("%s:\n got %s\nwant %s", key, data[key], want)
		}
	}
}

func TestGoldenConfigMaps(t *testing.T) {
	for name, path := range map[string]string{"services.yaml": "versions.yaml", "services-wmco.yaml": "examples/wmco/versions.yaml", "services-4.15.yaml": "examples/openshift-4.15/versions.yaml"} {
		c := configMap(t, declared(t, path))
		first, err := c.YAML()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, first)
		again, err := configMap(t, declared(t, path)).YAML()
		if err != nil || !bytes.Equal(first, again) {
			t.Errorf("%s: the second time it differs, %v", path, err)
		}
		if read := readBack(t, first); read.Name != c.Name || len(read.Services) != len(c.Services) || len(read.Files) != 0 || len(read.Watched) != 3 {
			t.Errorf("%s: read back as %+v", path, read)
		}
	}
}

func TestGoldenOldOperatorGetsTwoKeys(t *testing.T) {
	c := configMap(t, []winsvc.Service{winsvc.CSIProxy()})
	c.Watched = nil
	c.Files = []FileEntry{{`C:\k\csi-proxy.exe`, strings.Repeat("a", 64)}}
	text, err := c.YAML()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "services-old.yaml", text)
}

func TestWhatTheConfigMapCantSay(t *testing.T) {
	for want, change := range map[string]func(*winsvc.Service){
		"no place for a service's own environment": func(s *winsvc.Service) { s.Environment = map[string]string{"A": "b"} },
		"runs every service as LocalSystem":        func(s *winsvc.Service) { s.Account = `CORP\x$` },
		"this one is disabled":                     func(s *winsvc.Service) { s.Start = winsvc.StartDisabled },
		"WMCO 10.17.0 replaces no names in a script": func(s *winsvc.Service) {
			s.PreScripts = []winsvc.PreScript{{Command: "a NAME", NodeArgs: []winsvc.NodeArg{{Name: "NAME", Path: "{.metadata.name}"}}}}
		},
	} {
		s := winsvc.CSIProxy()
		change(&s)
		if _, err := Entries(version.WMCO{Major: 10, Minor: 17}, []winsvc.Service{s}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "fix: ") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestNamesOfTheConfigMap(t *testing.T) {
	for _, c := range []struct{ name, namespace, want string }{
		{"windows-services-10.20.1-1A2B3C4", Namespace, "can't be called"},
		{"windows-services-", Namespace, "can't be called"},
		{"services", Namespace, "can't be called"},
		{"windows-services-" + strings.Repeat("1", 250), Namespace, "can't be called"},
		{"windows-services-1.2.3", "", "can't be a namespace"},
		{"windows-services-1.2.3", "a.b", "can't be a namespace"},
		{"windows-services-1.2.3", "a\nb: c", "can't be a namespace"},
	} {
		m := configMap(t, []winsvc.Service{winsvc.CSIProxy()})
		m.Name, m.Namespace = c.name, c.namespace
		if text, err := m.YAML(); err == nil || text != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: %v", c.name, c.namespace, err)
		}
	}
}

// What WMCO would refuse isn't written.
func TestInvalidServicesArentWritten(t *testing.T) {
	c := &ConfigMap{Name: NamePrefix + "1.2.3", Namespace: Namespace, Services: []ServiceEntry{{Name: "a", Command: "x", Bootstrap: true, Priority: 1}, {Name: "b", Command: "y", Priority: 1}}}
	if text, err := c.YAML(); err == nil || text != nil || !strings.Contains(err.Error(), "must not overlap") {
		t.Errorf("%s, %v", text, err)
	}
}
