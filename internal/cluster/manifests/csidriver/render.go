package csidriver

import (
	"fmt"
	"strings"

	"github.com/distribution/reference"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/manifests/object"
)

func (c *choice) daemonSet(namespace, image string) (*appsv1.DaemonSet, error) {
	ds, err := c.definition.daemonSet(c.version, c.hostProcess, image)
	if err != nil {
		return nil, err
	}
	ds.Namespace = namespace
	if !c.hostProcess {
		c.mountPipes(&ds.Spec.Template.Spec)
	}
	return ds, nil
}

// mountPipes gives the driver's container the pipes that its line dials, those
// that it falls back on too.
func (c *choice) mountPipes(spec *corev1.PodSpec) {
	driver := container(spec, c.definition.Container)
	for _, use := range c.line.API {
		for _, v := range use.Versions {
			name := "csi-proxy-" + use.Group + "-" + v
			path, unset := `\\.\pipe\`+name, corev1.HostPathUnset
			driver.VolumeMounts = append(driver.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
			spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &unset}}})
		}
	}
}

// given are the images that Options name, by the project's that they replace.
func given(o Options, sources []string) (map[string]string, error) {
	done := map[string]string{}
	for _, g := range []struct{ flag, image, of string }{{"image", o.Image, o.Image}, {"registrar-image", o.Registrar, "node-driver-registrar"}, {"probe-image", o.Probe, "livenessprobe"}} {
		if g.image == "" {
			continue
		}
		r, _ := reference.ParseNormalizedNamed(g.image)
		if _, digested := r.(reference.Digested); !digested {
			return nil, &fault.Error{What: fmt.Sprintf("--%s isn't a reference by digest: %s", g.flag, printable.Reference(g.image)), Fix: "--" + g.flag + " REGISTRY/REPOSITORY@sha256:..., as bake driver --push prints it"}
		}
		for _, source := range sources {
			if source == g.of || strings.Contains(repositoryPath(source), g.of) {
				done[source] = g.image
			}
		}
	}
	return done, nil
}

// useImages puts the mirror's images and digests instead of the projects'.
func useImages(o Options, spec *corev1.PodSpec) (*images, error) {
	all := containers(spec)
	var sources []string
	for _, c := range all {
		sources = append(sources, c.Image)
	}
	m, err := newImages(strings.TrimSuffix(o.Registry, "/"), o.Digests, sources)
	if err != nil {
		return nil, err
	}
	done, err := given(o, sources)
	if err != nil {
		return nil, err
	}
	for i, source := range sources {
		if _, ok := done[source]; !ok {
			done[source] = m.at(source, true)
		}
		all[i].Image = done[source]
	}
	return m, m.err()
}

// Mode is how the driver reaches the node's disks and shares.
type Mode string

// The modes.
const (
	// Auto is what the project's own manifests use at the version, or the other
	// one where only that runs on the Windows build.
	Auto Mode = "auto"
	// Pipes is a container of its own that dials csi-proxy.
	Pipes Mode = "pipes"
	// HostProcess is a container that runs on the node itself.
	HostProcess Mode = "hostprocess"
)

// Modes lists them for a command line.
func Modes() []string { return []string{string(Auto), string(Pipes), string(HostProcess)} }

// OperatorNamespace is where OpenShift's own CSI drivers run, with their
// service accounts. The cluster's storage operator keeps it, with Pod Security
// at privileged: openshift/cluster-storage-operator,
// manifests/02_csi_driver_operators_namespace.yaml.
const OperatorNamespace = "openshift-cluster-csi-drivers"

// Options say what is to be written.
type Options struct {
	// Driver is the catalog's name for it: vsphere, azure-disk.
	Driver string
	// For is the release. Without a patch, the release's newest driver.
	For version.OpenShift
	// Mode; "" is Old's where the version still has it, else Auto.
	Mode Mode
	// Windows is the nodes' version, "2022"; "" is that.
	Windows string
	// Namespace of the DaemonSet; "" is OperatorNamespace. Another one gets a
	// service account and rights of its own.
	Namespace string
	// Registry takes the place of every image's host, and the rest of the
	// repository's path stays: mirror.example.com:5000/ocp; "" for none.
	Registry string
	// Image, Registrar and Probe take the place of the project's images of the
	// driver, the node-driver-registrar and the livenessprobe: references by digest,
	// as bake driver prints them; "" for none. With Image the version is the one that
	// the release ships, published or not.
	Image, Registrar, Probe string
	// Digests pins images; nil leaves tags alone.
	Digests *Digests
	// Old is the DaemonSet that is to be replaced, nil for none. What its admin set
	// in it is kept, as far as no version of the driver has a say in that.
	Old *Old
}

// Args are the words behind `bake manifests csi-driver` that give the same options,
// but for --out. from is the file that Old's DaemonSet is in, catalogs those of the
// catalog's rows. What Old decides needs no flag.
func (o *Options) Args(from string, catalogs []string) []string {
	args := []string{o.Driver}
	if o.Old != nil {
		args = []string{"--upgrade-from", from}
	}
	args = append(args, "--for", o.For.String())
	for _, flag := range [][2]string{{"mode", string(o.Mode)}, {"windows", o.Windows}, {"namespace", o.Namespace}, {"registry", o.Registry}, {"image", o.Image}, {"registrar-image", o.Registrar}, {"probe-image", o.Probe}, {"digest-file", o.Digests.file()}} {
		if flag[1] != "" {
			args = append(args, "--"+flag[0], flag[1])
		}
	}
	for _, file := range catalogs {
		args = append(args, "--catalog", file)
	}
	return args
}

// Folder is what is written.
type Folder struct {
	// Title is the driver's, Version the upstream version that was chosen.
	Title   string
	Version version.Driver
	// HostProcess is the mode that was chosen.
	HostProcess bool
	// Files in the order that they are to be applied in.
	Files      []File
	definition *definition
	daemonSet  *appsv1.DaemonSet
	// Notes are what the admin should know: one sentence each.
	Notes []string
	// kept is what it has of Options.Old.
	kept []Kept
}

// File is one object and what it is for.
type File = object.File
