package kube

import (
	"fmt"
	"reflect"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/inventory"
)

var templateBase = []any{"spec", "template", "spec"}

// DaemonSet takes a DaemonSet: a CSI driver's node plugin, csi-proxy, or
// neither, which is set aside with the reason.
func (c *Collector) DaemonSet(ds *appsv1.DaemonSet, at Locator) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := object("DaemonSet", ds.Namespace, ds.Name)
	at = located(at, o)
	p := podTemplate{&ds.Spec.Template.Spec, templateBase, at}
	cts := p.containers()
	if !c.first(o, inventory.DaemonSets, at) {
		c.again(o, ds, p, cts)
		return
	}
	c.checkMounts(o, p)
	if proxy, ok := c.proxyOf(o, p, cts); ok {
		c.inv.Proxies = append(c.inv.Proxies, proxy)
		return
	}
	d, reason := c.driverOf(o, ds, p, cts)
	if reason != "" {
		c.inv.SetAside = append(c.inv.SetAside, inventory.SetAside{Object: o, Reason: reason, At: inventory.Evidence{Where: at()}})
		c.volumes.workload(o, p, workloadOf(ds.ObjectMeta, nil))
		return
	}
	c.drivers[o] = d
}

// again compares a DaemonSet that is met a second time with the first.
func (c *Collector) again(o inventory.Object, ds *appsv1.DaemonSet, p podTemplate, cts []container) {
	old, isDriver := c.drivers[o]
	d, reason := c.driverOf(o, ds, p, cts)
	if isDriver == (reason == "") && reflect.DeepEqual(bare(old), bare(d)) {
		return
	}
	c.problem(inventory.Problem{
		Where: p.at(),
		What:  fmt.Sprintf("%s stands here and, otherwise, at %s; the first one was taken", o, c.seen[o]),
		Fix:   "give only the manifests that are applied to this cluster",
	})
}

// bare is d without where its facts were read.
func bare(d inventory.Driver) inventory.Driver {
	d.Evidence, d.Version.At = nil, inventory.Evidence{}
	d.Pipes, d.Unmounted = barePipes(d.Pipes), barePipes(d.Unmounted)
	if d.Registrar != nil {
		r := *d.Registrar
		r.Version.At = inventory.Evidence{}
		d.Registrar = &r
	}
	return d
}

func barePipes(pipes []inventory.Pipe) []inventory.Pipe {
	out := make([]inventory.Pipe, len(pipes))
	for i, p := range pipes {
		out[i] = inventory.Pipe{Group: p.Group, Version: p.Version}
	}
	return out
}

// driverOf reads a driver's node plugin; the reason says why it is none.
func (c *Collector) driverOf(o inventory.Object, ds *appsv1.DaemonSet, p podTemplate, cts []container) (inventory.Driver, string) {
	id, reason := c.known.identify(p, cts, ds.Name)
	if reason != "" {
		return inventory.Driver{}, reason
	}
	d := inventory.Driver{Object: o, Provisioner: id.provisioner, Scheduling: scheduling(p.spec), Rollout: rollout(ds)}
	if id.driver != nil {
		d.Line = id.driver.Name
	}
	if id.evidence.Where != "" {
		d.Evidence = append(d.Evidence, id.evidence)
	}
	d.Registrar = c.registrar(p, cts)
	os, osAt := operatingSystem(p, cts)
	d.OS = os
	if osAt.Where != "" {
		d.Evidence = append(d.Evidence, osAt)
	}
	c.readContainer(&d, p, c.known.pickDriver(cts, id.driver), hints(ds))
	d.OperatorManaged = operatorManaged(ds, d.Image)
	return d, ""
}

// readContainer reads what the driver's own container says.
func (c *Collector) readContainer(d *inventory.Driver, p podTemplate, ct *container, hint string) {
	if ct == nil {
		d.Version.Reason = "which of the containers runs the driver can't be told"
		d.Version.At = p.evidence("", "containers")
		return
	}
	d.Container, d.Image = ct.Name, ct.image
	d.Version = c.versionOf(ct.image, ct.err, p.imageAt(ct))
	if !d.Version.Known && hint != "" {
		d.Version.Reason += "; " + hint
	}
	if ct.Image != "" {
		d.Evidence = append(d.Evidence, d.Version.At)
	}
	hp, hpAt := hostProcess(p, ct)
	d.HostProcess = hp
	if hpAt.Where != "" {
		d.Evidence = append(d.Evidence, hpAt)
	}
	if value, w, given := boolFlag(ct.words, hostProcessFlags...); given {
		d.HostProcessFlag = &value
		d.Evidence = append(d.Evidence, inventory.Evidence{Where: p.at(w.path...), Text: w.text})
	}
	d.Pipes, d.Unmounted = pipes(p, ct)
}

// registrar is the node-driver-registrar beside the driver.
func (c *Collector) registrar(p podTemplate, cts []container) *inventory.Sidecar {
	for i := range cts {
		ct := &cts[i]
		if ct.isRegistrar() && len(cts) > 1 {
			return &inventory.Sidecar{Container: ct.Name, Image: ct.image, Version: c.versionOf(ct.image, ct.err, p.imageAt(ct))}
		}
	}
	return nil
}

// checkMounts looks for what a truncated manifest has: mounts of volumes that
// the pod doesn't declare. The API server would refuse it.
func (c *Collector) checkMounts(o inventory.Object, p podTemplate) {
	volumes := map[string]bool{}
	for _, v := range p.spec.Volumes {
		volumes[v.Name] = true
	}
	for i, ct := range p.spec.Containers {
		for j, m := range ct.VolumeMounts {
			if volumes[m.Name] {
				continue
			}
			c.problem(inventory.Problem{
				Where: p.at(p.path("containers", i, "volumeMounts", j)...),
				What:  fmt.Sprintf("%s mounts the volume %q, which it doesn't declare: the manifest is cut off, or a patch", o, m.Name),
				Fix:   "give the whole manifest, as it is applied",
			})
			return
		}
	}
}

// hints are labels that name a version. Anybody may have left them as they
// were when he changed the image, so they prove nothing.
func hints(ds *appsv1.DaemonSet) string {
	for _, labels := range []map[string]string{ds.Spec.Template.Labels, ds.Labels} {
		for _, key := range []string{"app.kubernetes.io/version", "helm.sh/chart"} {
			if value := labels[key]; value != "" {
				return fmt.Sprintf("the label %s says %s, which isn't proof", key, clip(value))
			}
		}
	}
	return ""
}

// rollout is how far the DaemonSet has come; nil where it has no status.
func rollout(ds *appsv1.DaemonSet) *inventory.Rollout {
	s := ds.Status
	if s.ObservedGeneration == 0 && s.DesiredNumberScheduled == 0 && s.NumberReady == 0 {
		return nil
	}
	return &inventory.Rollout{
		Strategy: string(ds.Spec.UpdateStrategy.Type),
		Desired:  s.DesiredNumberScheduled,
		Ready:    s.NumberReady,
		Updated:  s.UpdatedNumberScheduled,
		Observed: s.ObservedGeneration >= ds.Generation,
	}
}

// applied are what library-go leaves on the DaemonSets that OpenShift's
// operators apply, now and in old releases:
// https://github.com/openshift/library-go/blob/master/pkg/operator/resource/resourceapply/apps.go
var applied = []string{"operator.openshift.io/spec-hash", "operator.openshift.io/pull-spec"}

// csiNamespace is where OpenShift's storage operators keep their DaemonSets.
// The samples of WMCO go there too, so it alone tells nothing.
const csiNamespace = "openshift-cluster-csi-drivers"

func operatorManaged(ds *appsv1.DaemonSet, img inventory.Image) bool {
	for _, name := range applied {
		if _, ok := ds.Annotations[name]; ok {
			return true
		}
	}
	for _, ref := range ds.OwnerReferences {
		if ownedByOperator(ref) {
			return true
		}
	}
	return ds.Namespace == csiNamespace && isPayload(img)
}

func ownedByOperator(ref metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	return group == "operator.openshift.io" || group == "config.openshift.io"
}

// isPayload tells whether an image came with a release of OpenShift or OKD.
func isPayload(img inventory.Image) bool {
	for _, repository := range []string{"ocp-v4.0-art-dev", "scos-content"} {
		if last(img.Repository) == repository {
			return true
		}
	}
	return false
}
