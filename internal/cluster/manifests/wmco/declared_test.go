package wmco

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/windows/winsvc"
)

// find is the one service of a name.
func find(t *testing.T, services []winsvc.Service, name string) winsvc.Service {
	t.Helper()
	i := slices.IndexFunc(services, func(s winsvc.Service) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no service %s", name)
	}
	return services[i]
}

// wmcos is a service as WMCO has it on every cloud.
func wmcos(t *testing.T, release, name string) winsvc.Service {
	t.Helper()
	services, err := Cluster{Release: release}.Services(nil, noWarning(t))
	if err != nil {
		t.Fatal(err)
	}
	return find(t, services, name)
}

func TestDeclaredServicesAreFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		cluster          Cluster
		service          string
		declare          func(*winsvc.Service)
		command, warning string
		scripts          []string // variables
	}{
		"other log level": {
			Cluster{Release: "4.20", Cloud: "aws"}, "kubelet",
			func(s *winsvc.Service) { s.Arguments[slices.Index(s.Arguments, "--v=2")] = "--v=4" },
			`--v=4 --node-ip=NODE_IP --cloud-provider=external --hostname-override=HOSTNAME_OVERRIDE --image-credential-provider-bin-dir=C:\k --image-credential-provider-config=C:\k\credential-provider-config.yaml`,
			": command; WMCO's command is ", []string{"NODE_IP", "HOSTNAME_OVERRIDE"},
		},
		"own host name": {
			Cluster{Release: "4.20", Cloud: "gcp"}, "kubelet",
			func(s *winsvc.Service) { s.Arguments = append(s.Arguments, "--hostname-override=me") },
			`--node-ip=NODE_IP --hostname-override=me --cloud-provider=external`,
			": command; WMCO's command is ", []string{"NODE_IP"},
		},
		"own script": {
			Cluster{Release: "4.20", Cloud: "vsphere"}, "kubelet",
			func(s *winsvc.Service) {
				s.PreScripts = append(s.PreScripts, winsvc.PreScript{Variable: "HOSTNAME_OVERRIDE", Command: "hostname"})
			},
			`--node-ip=NODE_IP --cloud-provider=external --hostname-override=HOSTNAME_OVERRIDE`,
			": preScripts", []string{"NODE_IP", "HOSTNAME_OVERRIDE"},
		},
		"collectors of another release": {
			Cluster{Release: "4.22", Cloud: "none"}, "windows_exporter",
			func(s *winsvc.Service) { s.Arguments[1] = "cpu,cs" },
			`--collectors.enabled cpu,cs --web.config.file C:\k\tls\windows-exporter-webconfig.yaml`,
			`: command; WMCO's command is C:\k\windows_exporter.exe --collectors.enabled cpu,logical_disk,`, nil,
		},
		"everything": {
			Cluster{Release: "4.20", Cloud: "azure"}, "cloud-node-manager",
			func(s *winsvc.Service) {
				*s = winsvc.Service{Name: "Cloud-Node-Manager", Path: `C:\k\azure-cloud-node-manager.exe`, Bootstrap: true, Dependencies: []string{"kubelet"}}
			},
			`C:\k\azure-cloud-node-manager.exe`,
			": command, nodeArgs, dependencies, bootstrap, priority; ", nil,
		},
		"own server and port": {
			Cluster{Release: "4.20", Cloud: "none", APIServer: "https://given:6443", VXLANPort: 1}, "hybrid-overlay-node",
			func(s *winsvc.Service) {
				s.Arguments = append(s.Arguments[:6:6], "--k8s-apiserver=https://declared:6443", "--hybrid-overlay-vxlan-port", "2")
			},
			`--k8s-apiserver=https://declared:6443 --hybrid-overlay-vxlan-port 2`, ": command; WMCO's command is ", nil,
		},
	} {
		s := winsvc.Service{}
		if c.service != "cloud-node-manager" {
			s = wmcos(t, c.cluster.Release, c.service)
		}
		s.Arguments, s.PreScripts = slices.Clone(s.Arguments), slices.Clone(s.PreScripts)
		c.declare(&s)
		before := s.Command()
		var warnings []string
		services, err := c.cluster.Services([]winsvc.Service{s}, func(service, what string) { warnings = append(warnings, service+": "+what) })
		if err != nil {
			t.Fatal(err)
		}
		got := find(t, services, s.Name)
		if !strings.Contains(got.Command()+" ", c.command+" ") {
			t.Errorf("%s: %s\nlacks %s", name, got.Command(), c.command)
		}
		if len(warnings) != 1 || !strings.HasPrefix(warnings[0], s.Name+": it is written as versions.yaml declares it") || !strings.Contains(warnings[0], c.warning) {
			t.Errorf("%s: warnings %q, want %q", name, warnings, c.warning)
		}
		var scripts []string
		for _, p := range got.PreScripts {
			scripts = append(scripts, p.Variable)
		}
		if !slices.Equal(scripts, c.scripts) {
			t.Errorf("%s: scripts for %q, want %q", name, scripts, c.scripts)
		}
		if s.Command() != before {
			t.Errorf("%s: the declared service was changed: %s", name, s.Command())
		}
	}
}

// What only versions.yaml has comes last, and what the ConfigMap doesn't say
// stays as it is declared.
func TestDeclaredServicesStay(t *testing.T) {
	proxy := winsvc.CSIProxy("disk-v1")
	services, err := Cluster{Release: "4.20", Cloud: "none"}.Services([]winsvc.Service{{Name: "mine", Path: `C:\mine.exe`}, proxy}, noWarning(t))
	if err != nil {
		t.Fatal(err)
	}
	if last := services[len(services)-1]; last.Name != "mine" || len(services) != 7 {
		t.Errorf("the last of %d is %s", len(services), last.Name)
	}
	if got := find(t, services, "csi-proxy"); got.Display != proxy.Display || len(got.Pipes) != 1 || got.WMCOOnly {
		t.Errorf("csi-proxy became %+v", got)
	}
}

func TestClusterValues(t *testing.T) {
	services, err := Cluster{Release: "4.20", Cloud: "vsphere", APIServer: "https://api-int.a.b:6443", VXLANPort: 9898}.Services(nil, noWarning(t))
	if err != nil {
		t.Fatal(err)
	}
	want := ` --k8s-apiserver=https://api-int.a.b:6443 --k8s-cacert C:\k\bootstrap-ca.crt --hybrid-overlay-vxlan-port 9898`
	if got := find(t, services, "hybrid-overlay-node").Command(); !strings.HasSuffix(got, want) {
		t.Errorf("%s\nlacks %s", got, want)
	}
}

func TestRefusals(t *testing.T) {
	for want, c := range map[string]Cluster{
		`there is no cloud "openstack"`:                   {Cloud: "openstack"},
		"fix: one of: none, vsphere, aws":                 {Cloud: "AWS"},
		`"api-int:6443" isn't the address`:                {Cloud: "aws", APIServer: "api-int:6443"},
		`"http://a:6443" isn't`:                           {Cloud: "aws", APIServer: "http://a:6443"},
		`"https://" isn't`:                                {Cloud: "aws", APIServer: "https://"},
		`"https://a/b c" isn't`:                           {Cloud: "aws", APIServer: "https://a/b c"},
		`"https://a b" isn't`:                             {Cloud: "aws", APIServer: "https://a b"},
		"aren't known for OpenShift 4.13\nfix: ":          {Release: "4.13", Cloud: "aws"},
		"known are 4.14, 4.15":                            {Release: "5.1", Cloud: "none"},
		"aren't known for OpenShift 4.20.1\nfix: without": {Release: "4.20.1", Cloud: "none"},
	} {
		err := c.Check()
		if err == nil && c.Release != "" {
			_, err = c.Services(nil, noWarning(t))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", c, err, want)
		}
	}
}

// Rows say what they are for: a cloud and a release that exist, and no flag
// twice for one cluster.
func TestRows(t *testing.T) {
	d := load()
	check := func(c Condition) {
		for _, r := range []string{c.From, c.Until} {
			if r != "" && !slices.Contains(d.Releases, r) {
				t.Errorf("there is no release %s", r)
			}
		}
		for _, cloud := range c.Clouds {
			if !slices.Contains(d.Clouds, cloud) {
				t.Errorf("there is no cloud %s", cloud)
			}
		}
	}
	for _, s := range d.Services {
		check(s.Condition)
		for _, a := range s.Args {
			check(a.Condition)
			if len(a.Clouds) > 0 && len(strings.Fields(a.Args)) != 1 {
				t.Errorf("%s: %q adds more than one flag, and a declared service may set one of them", s.Name, a.Args)
			}
		}
		for _, p := range s.PreScripts {
			check(p.Condition)
		}
	}
}
