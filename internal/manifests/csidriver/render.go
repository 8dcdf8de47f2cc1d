package csidriver

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/distribution/reference"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/catalog"
	"github.com/winbake/winbake/internal/fault"
	"github.com/winbake/winbake/internal/manifests/object"
	"github.com/winbake/winbake/internal/printable"
)

// Render writes the files for a driver and a release. Its errors are
// *fault.Error: no such driver or release, no version that fits, a mode that
// the version hasn't got, images that can't be named.
func Render(cat *catalog.Catalog, o Options) (*Folder, error) {
	o.Namespace = cmp.Or(o.Namespace, OperatorNamespace)
	if !object.ValidNamespace(o.Namespace) || o.Namespace == testNamespace {
		return nil, &fault.Error{What: fmt.Sprintf("%q can't be the driver's namespace", o.Namespace), Fix: "--namespace, in lower-case letters, digits and dashes; or leave it out for " + OperatorNamespace}
	}
	if o.Namespace != OperatorNamespace && object.ClustersOwn(o.Namespace) && (o.Old == nil || !o.Old.inPlace(o.Namespace)) {
		return nil, &fault.Error{What: o.Namespace + " is the cluster's own, and its labels would be changed", Fix: "--namespace, one of yours or a new one; or leave it out for " + OperatorNamespace}
	}
	c, err := choose(cat, o)
	if err != nil {
		return nil, err
	}
	ds, err := c.daemonSet(o.Namespace, c.source())
	if err != nil {
		return nil, err
	}
	if c.old != nil {
		c.keepChoices(o)
		c.keep(ds)
	}
	m, err := useImages(o, &ds.Spec.Template.Spec)
	if err != nil {
		return nil, err
	}
	files, err := c.files(ds, m.at(c.windows.image, false))
	if err != nil {
		return nil, err
	}
	return &Folder{Title: c.driver.Title, Version: c.version, HostProcess: c.hostProcess, definition: c.definition, daemonSet: ds, Files: files, Notes: c.notes, kept: c.kept}, nil
}

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

// useImages puts the mirror's images and digests in place of the projects'.
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
