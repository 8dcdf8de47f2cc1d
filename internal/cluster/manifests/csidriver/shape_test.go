package csidriver_test

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// TestGolden keeps the bytes of a folder of each kind.
func TestGolden(t *testing.T) {
	cat := load(t)
	digests, err := csidriver.ParseDigests("digests.txt", []byte(`
registry.k8s.io/csi-vsphere/driver:v3.5.0 sha256:1111111111111111111111111111111111111111111111111111111111111111
registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.13.0 sha256:2222222222222222222222222222222222222222222222222222222222222222
registry.k8s.io/sig-storage/livenessprobe:v2.15.0 sha256:3333333333333333333333333333333333333333333333333333333333333333
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]csidriver.Options{
		"vsphere-4.18":          {Driver: "vsphere", For: release(t, "4.18")},
		"vsphere-4.20-mirrored": {Driver: "vsphere", For: release(t, "4.20"), Namespace: "own", Registry: "mirror.example.com:5000/ocp/", Digests: digests},
		"azure-disk-4.12-host":  {Driver: "azure-disk", For: release(t, "4.12"), Mode: csidriver.HostProcess},
		"azure-disk-4.20":       {Driver: "azure-disk", For: release(t, "4.20")},
		"azure-file-4.16":       {Driver: "azure-file", For: release(t, "4.16")},
		"azure-file-4.20-2025":  {Driver: "azure-file", For: release(t, "4.20"), Windows: "2025"},
		"aws-ebs-4.20":          {Driver: "aws-ebs", For: release(t, "4.20")},
		"aws-ebs-4.22-2025":     {Driver: "aws-ebs", For: release(t, "4.22"), Windows: "2025"},
		"gcp-pd-4.22":           {Driver: "gcp-pd", For: release(t, "4.22")},
		"smb-4.18":              {Driver: "smb", For: release(t, "4.18")},
		"smb-4.20":              {Driver: "smb", For: release(t, "4.20")},
	} {
		t.Run(name, func(t *testing.T) {
			for range 3 { // the same each time
				folder, err := csidriver.Render(cat, o)
				if err != nil {
					t.Fatal(err)
				}
				var all strings.Builder
				for _, note := range folder.Notes {
					all.WriteString("note: " + note + "\n")
				}
				for _, f := range folder.Files {
					all.WriteString("--- " + f.Name + "\n" + string(f.Data))
				}
				golden(t, name+".yaml", []byte(all.String()))
			}
		})
	}
}

// TestPipesAreTheLines: pipe mode mounts what the catalog says that the line
// dials, no more and no less, and HostProcess mode mounts none, with the flag
// and the image of its line.
func TestPipesAreTheLines(t *testing.T) {
	cat := load(t)
	tried := map[bool]int{}
	for _, name := range csidriver.Drivers() {
		driver := cat.Driver(name)
		for _, r := range releases(cat) {
			for _, mode := range []csidriver.Mode{csidriver.Pipes, csidriver.HostProcess} {
				folder, err := csidriver.Render(cat, csidriver.Options{Driver: name, For: release(t, r), Mode: mode, Windows: "2022"})
				if err != nil {
					continue
				}
				tried[folder.HostProcess]++
				line := driver.Line(folder.Version)
				var want []string
				if mode == csidriver.Pipes {
					for _, use := range line.API {
						for _, v := range use.Versions {
							want = append(want, `\\.\pipe\csi-proxy-`+use.Group+"-"+v)
						}
					}
				}
				ds := daemonSet(t, folder)
				c := driverContainer(t, &ds.Spec.Template.Spec, driver)
				checkMode(t, name+" for "+r, ds, c, line, mode, want)
			}
		}
	}
	if tried[true] < 20 || tried[false] < 30 {
		t.Errorf("only these were tried: %v", tried)
	}
}

func checkMode(t *testing.T, name string, ds *appsv1.DaemonSet, c *corev1.Container, line *catalog.Line, mode csidriver.Mode, want []string) {
	t.Helper()
	var mounted, volumes []string
	for _, m := range c.VolumeMounts {
		if strings.Contains(m.MountPath, "pipe") {
			mounted = append(mounted, m.MountPath)
		}
	}
	spec := &ds.Spec.Template.Spec
	for _, v := range spec.Volumes {
		if v.HostPath != nil && strings.Contains(v.HostPath.Path, "pipe") {
			volumes = append(volumes, v.HostPath.Path)
		}
	}
	if !slices.Equal(mounted, want) || !slices.Equal(volumes, want) {
		t.Errorf("%s, %s: mounts %v, volumes %v; the line dials %v", name, mode, mounted, volumes, want)
	}
	host := mode == csidriver.HostProcess
	if is := spec.SecurityContext != nil && *spec.SecurityContext.WindowsOptions.HostProcess; is != host || spec.HostNetwork != host {
		t.Errorf("%s, %s: HostProcess is %t", name, mode, is)
	}
	flagged := slices.Contains(c.Args, line.Flag+"=true")
	if line.Flag != "" && flagged != host || line.Flag == "" && strings.Contains(strings.Join(c.Args, " "), "host-process") {
		t.Errorf("%s, %s: %v", name, mode, c.Args)
	}
	if suffixed := strings.HasSuffix(c.Image, "-windows-hp"); suffixed != (host && line.ImageSuffix != "") {
		t.Errorf("%s, %s: %s", name, mode, c.Image)
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		if !strings.Contains(c.Image, ":v") {
			t.Errorf("%s, %s: %s moves", name, mode, c.Image)
		}
	}
}

func daemonSet(t *testing.T, folder *csidriver.Folder) *appsv1.DaemonSet {
	t.Helper()
	for _, f := range folder.Files {
		if f.Name == "08-daemonset.yaml" {
			var ds appsv1.DaemonSet
			if err := yaml.UnmarshalStrict(f.Data, &ds); err != nil {
				t.Fatal(err)
			}
			return &ds
		}
	}
	t.Fatal("there is no DaemonSet")
	return nil
}

func driverContainer(t *testing.T, spec *corev1.PodSpec, driver *catalog.Driver) *corev1.Container {
	t.Helper()
	for i := range spec.Containers {
		if slices.Contains(driver.Containers, spec.Containers[i].Name) {
			return &spec.Containers[i]
		}
	}
	t.Fatal("no container bears the driver's name")
	return nil
}
