package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/base/printable"
	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/owners"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// daemonSet takes a DaemonSet: a CSI driver's node plugin, csi-proxy, or
// neither, which is set aside with the reason.
func (c *Collector) daemonSet(o inventory.Object, ds *appsv1.DaemonSet, at Locator) {
	p := podTemplate{&ds.Spec.Template.Spec, templateBase, at}
	cts := p.containers()
	if !c.first(o, inventory.DaemonSets, at) {
		c.again(o, ds, p, cts)
		return
	}
	c.checkWhole(o, p)
	if proxy, ok := c.proxyOf(o, p, cts); ok {
		c.inv.Proxies = append(c.inv.Proxies, proxy)
		return
	}
	d, reason := c.driverOf(o, ds, p, cts)
	if reason != "" {
		c.inv.SetAside = append(c.inv.SetAside, inventory.SetAside{Object: o, Reason: reason, At: inventory.Evidence{Where: at()}})
		c.volumes.workload(o, ds, nil, p, nil)
		return
	}
	c.drivers[o] = d
	if class := p.spec.RuntimeClassName; class != nil {
		c.classNames[o] = *class
	}
	if d.OS != linux {
		c.checkAlone(o, d.Provisioner, registrations(p, cts))
		c.checkPlugin(d, ds, p)
	}
	c.checkImage(d, p, cts)
}

// checkImage tells of a driver whose image the catalog knows as another's than
// its paths or arguments say.
func (c *Collector) checkImage(d inventory.Driver, p podTemplate, cts []container) {
	id, _ := c.known.identify(p, cts, d.Object.Name)
	image := c.known.image(d.Image.Repository)
	if id.driver == nil || image == nil || id.driver == image {
		return
	}
	c.problem(inventory.Problem{
		Where: d.Version.At.Where,
		What:  fmt.Sprintf("%s is %s by its paths or arguments and %s by its image; it was judged as %s", d.Object, id.provisioner, image.Provisioner, d.Provisioner),
		Fix:   "give the paths below kubelet\\plugins and the image of one driver, as its project publishes them",
	})
}

// checkAlone tells of drivers that a pod registers next to the one that was
// taken: nothing is known of them, and that mustn't pass for nothing wrong.
func (c *Collector) checkAlone(o inventory.Object, provisioner string, registered []clue) {
	if len(registered) < 2 {
		return // the driver's own flag may name it otherwise than the one path
	}
	for _, r := range registered {
		other, ok := c.known.byClues([]clue{r})
		if !ok || strings.EqualFold(other.provisioner, provisioner) {
			continue
		}
		c.problem(inventory.Problem{
			Where: r.at.Where,
			What:  fmt.Sprintf("%s registers %s too, and only %s of it is judged", o, printable.Clip(other.provisioner), printable.Clip(provisioner)),
			Fix:   "give each driver a DaemonSet of its own, as its project publishes it",
		})
	}
}

// driverOf reads a driver's node plugin; the reason says why it is none.
func (c *Collector) driverOf(o inventory.Object, ds *appsv1.DaemonSet, p podTemplate, cts []container) (inventory.Driver, string) {
	id, reason := c.known.identify(p, cts, ds.Name)
	if reason != "" {
		return inventory.Driver{}, reason
	}
	id = c.known.asImage(id, p, cts)
	d := inventory.Driver{Object: o, Provisioner: id.provisioner, Scheduling: podtext.Scheduling(p.spec), Rollout: rollout(ds), ServiceAccount: cmp.Or(p.spec.ServiceAccountName, p.spec.DeprecatedServiceAccount)}
	d.Selector, d.Owners, d.Deleting = selector(ds), owners.Of(ds.ObjectMeta, p.at), ds.DeletionTimestamp != nil
	d.Strategy, d.MaxUnavailable = strategy(ds.Spec.UpdateStrategy)
	if id.driver != nil {
		d.Line = id.driver.Name
	}
	addEvidence(&d, id.evidence)
	d.Registrar = c.registrar(p, cts)
	d.Partial, _ = p.lack()
	os, osAt := operatingSystem(p, cts)
	d.OS = os
	addEvidence(&d, osAt)
	if ct := c.known.pickDriver(cts, id.driver); ct != nil {
		c.readContainer(&d, p, ct, ownFlags(id.driver))
		d.Paths = paths(p, cts, ct)
	} else {
		d.Version.Reason, d.Version.At = noContainer(cts), p.evidence("", "containers")
	}
	d.OperatorManaged = owners.Operator(ds, d.Image)
	return d, ""
}

// addEvidence keeps where a fact was read, if it was.
func addEvidence(d *inventory.Driver, at inventory.Evidence) {
	if at.Where != "" {
		d.Evidence = append(d.Evidence, at)
	}
}

func (c *Collector) readContainer(d *inventory.Driver, p podTemplate, ct *container, own []string) {
	d.Container, d.Image = ct.Name, ct.image
	d.Call = inventory.Call{At: podtext.Pointer(ct.path), Command: ct.Command, Args: ct.Args}
	d.Version = c.versionOf(ct.image, ct.err, p.imageAt(ct))
	for _, other := range slices.Concat(p.spec.InitContainers, p.spec.Containers) {
		if img, err := podtext.ParseImage(other.Image); err == nil && other.Name != ct.Name && img.Repository == ct.image.Repository && (img == ct.image || tagged(img) && tagged(ct.image)) {
			d.Siblings = append(d.Siblings, inventory.Sibling{Container: other.Name, Image: img})
		}
	}
	if ct.Image != "" {
		d.Evidence = append(d.Evidence, d.Version.At)
	}
	hp, hpAt := hostProcess(p, ct)
	d.HostProcess = hp
	addEvidence(d, hpAt)
	readFlags(d, p, ct, own)
	d.Pipes, d.Unmounted = pipes(p, ct)
}

// tagged tells whether an image is named by a version: a mirror may have all images in one
// repository.
func tagged(i inventory.Image) bool {
	_, err := version.ParseDriver(i.Tag)
	return err == nil && i.Digest == ""
}

func (c *Collector) registrar(p podTemplate, cts []container) *inventory.Sidecar {
	for i := range cts {
		ct := &cts[i]
		if ct.besideDriver(cts) {
			s := &inventory.Sidecar{Container: ct.Name, Image: ct.image, Version: c.versionOf(ct.image, ct.err, p.imageAt(ct))}
			if probe := ct.LivenessProbe; probe != nil && probe.Exec != nil {
				s.Probe = probe.Exec.Command
			}
			return s
		}
	}
	return nil
}

// selector is the DaemonSet's, in kubectl's words; "" for none.
func selector(ds *appsv1.DaemonSet) string {
	if ds.Spec.Selector == nil {
		return ""
	}
	return metav1.FormatLabelSelector(ds.Spec.Selector)
}

// strategy is how pods are replaced, with the API server's defaults.
func strategy(s appsv1.DaemonSetUpdateStrategy) (kind, maxUnavailable string) {
	if s.Type == appsv1.OnDeleteDaemonSetStrategyType {
		return string(s.Type), ""
	}
	kind, maxUnavailable = string(appsv1.RollingUpdateDaemonSetStrategyType), "1"
	if r := s.RollingUpdate; r != nil && r.MaxUnavailable != nil {
		maxUnavailable = r.MaxUnavailable.String()
	}
	return kind, maxUnavailable
}

// rollout is how far the DaemonSet has come; nil where it has no status.
func rollout(ds *appsv1.DaemonSet) *inventory.Rollout {
	s := ds.Status
	if s.ObservedGeneration == 0 && s.DesiredNumberScheduled == 0 && s.NumberReady == 0 {
		return nil
	}
	return &inventory.Rollout{
		Desired: s.DesiredNumberScheduled, Ready: s.NumberReady, Updated: s.UpdatedNumberScheduled, Observed: s.ObservedGeneration >= ds.Generation,
	}
}

func (c *Collector) checkWhole(o inventory.Object, p podTemplate) {
	if lack, path := p.lack(); lack != "" {
		c.problem(inventory.Problem{
			Where: p.at(path...),
			What:  fmt.Sprintf("%s %s: the manifest is cut off, or a patch", o, lack),
			Fix:   "give the whole manifest, as it is applied",
		})
	}
}

// lack looks for what a truncated manifest and a patch have, and what the API
// server would refuse: a container without an image, a mount of a volume that
// the pod doesn't declare. It is "" for a whole pod.
func (p podTemplate) lack() (string, []any) {
	volumes := map[string]bool{}
	for _, v := range p.spec.Volumes {
		volumes[v.Name] = true
	}
	for _, at := range p.lasting() {
		ct, path := at.ct, at.path
		for j, m := range ct.VolumeMounts {
			if !volumes[m.Name] {
				return fmt.Sprintf("mounts the volume %q, which it doesn't declare", m.Name), below(path, "volumeMounts", j)
			}
		}
		if ct.Image == "" {
			return fmt.Sprintf("has a container %q without an image", ct.Name), path
		}
	}
	return "", nil
}

// again compares a DaemonSet that is met a second time with the first.
func (c *Collector) again(o inventory.Object, ds *appsv1.DaemonSet, p podTemplate, cts []container) {
	old, isDriver := c.drivers[o]
	d, reason := c.driverOf(o, ds, p, cts)
	if isDriver == (reason == "") && sameDriver(old, d) {
		if isDriver && old.Rollout == nil {
			old.Rollout, old.Owners, old.Deleting = d.Rollout, slices.Concat(old.Owners, d.Owners), d.Deleting
			c.drivers[o] = old
		}
		return
	}
	c.problem(inventory.Problem{
		Where: p.at(),
		What:  fmt.Sprintf("%s stands here and, otherwise, at %s; the first one was taken", o, c.seen[o]),
		Fix:   "give only the manifests that are applied to this cluster",
	})
}
