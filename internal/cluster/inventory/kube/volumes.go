package kube

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	csitranslation "k8s.io/csi-translation-lib"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

// translator knows which CSI driver serves an in-tree plugin's volumes. It is
// without state.
var translator = csitranslation.New()

// migratedTo is what the PersistentVolume controller leaves on volumes and
// claims of an in-tree plugin that CSI serves.
const migratedTo = "pv.kubernetes.io/migrated-to"

// provisionedBy is what the PersistentVolume controller, or a provisioner,
// leaves on a volume that it made:
// https://kubernetes.io/docs/reference/labels-annotations-taints/#pv-kubernetes-io-provisioned-by
const provisionedBy = "pv.kubernetes.io/provisioned-by"

// provisionerKeys are a claim's annotations that name what made its volume.
var provisionerKeys = []string{"volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner"}

func (c *Collector) persistentVolume(o inventory.Object, pv *corev1.PersistentVolume, at Locator) {
	b, claimed := backingOf(pv), claimOf(pv)
	if c.repeated(o, inventory.Volumes, func() any { return [2]any{b, claimed} }, at) {
		return
	}
	c.pvs[pv.Name] = b
	if claimed != (key{}) {
		c.byClaim[claimed] = pv.Name
	}
	if b.inTree != "" {
		c.leftover(o, b, inventory.Evidence{Where: at("spec"), Text: b.inTree})
	}
}

// claimOf is the claim that a volume is bound to, or kept for.
func claimOf(pv *corev1.PersistentVolume) key {
	ref := pv.Spec.ClaimRef
	if ref == nil || pv.Status.Phase == corev1.VolumeReleased || pv.Status.Phase == corev1.VolumeFailed {
		return key{}
	}
	return key{ref.Namespace, ref.Name}
}

func backingOf(pv *corev1.PersistentVolume) backing {
	b := backing{migratedTo: pv.Annotations[migratedTo], maker: pv.Annotations[provisionedBy]}
	if a := pv.Spec.NodeAffinity; a != nil {
		b.affinity = podtext.Terms(a.Required)
	}
	if pv.Spec.CSI != nil {
		b.provisioner = pv.Spec.CSI.Driver
		return b
	}
	if !translator.IsPVMigratable(pv) {
		return b
	}
	plugin, err := translator.GetInTreePluginNameFromSpec(pv, nil)
	if err != nil {
		return b
	}
	b.inTree, b.provisioner = plugin, csiName(plugin)
	return b
}

// csiName is the CSI driver of an in-tree plugin, "" for one that has none.
func csiName(plugin string) string {
	name, _ := translator.GetCSINameFromInTreeName(plugin)
	return name
}

func (c *Collector) leftover(o inventory.Object, b backing, at inventory.Evidence) {
	c.inv.Leftovers = append(c.inv.Leftovers, inventory.Leftover{
		Object: o, InTree: b.inTree, Provisioner: b.provisioner, MigratedTo: b.migratedTo, ProvisionedBy: b.maker, At: at,
	})
}

func (c *Collector) persistentVolumeClaim(o inventory.Object, pvc *corev1.PersistentVolumeClaim, at Locator) {
	cl, by := claimRecord(pvc)
	if c.repeated(o, inventory.Claims, func() any { return cl }, at) {
		return
	}
	if csi := csiName(cl.maker); csi != "" {
		b := backing{provisioner: csi, inTree: cl.maker, migratedTo: cl.migratedTo, maker: cl.maker}
		c.leftover(o, b, inventory.Evidence{Where: at("metadata", "annotations", by), Text: cl.maker})
	}
	c.claims[key{pvc.Namespace, pvc.Name}] = cl
}

// claimRecord is what is kept of a claim; by is the annotation that names its
// provisioner.
func claimRecord(pvc *corev1.PersistentVolumeClaim) (cl claim, by string) {
	cl = claim{volume: pvc.Spec.VolumeName, class: pvc.Spec.StorageClassName, migratedTo: pvc.Annotations[migratedTo]}
	if class, old := pvc.Annotations[corev1.BetaStorageClassAnnotation]; old && cl.class == nil {
		cl.class = &class
	}
	for _, name := range provisionerKeys {
		if maker := pvc.Annotations[name]; maker != "" {
			cl.maker = maker
			return cl, name
		}
	}
	return cl, ""
}

// defaultClass marks the class of claims that name none; the second is the old
// name.
var defaultClass = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

func (c *Collector) storageClass(_ inventory.Object, sc *storagev1.StorageClass, _ Locator) {
	c.classes[sc.Name] = sc.Provisioner
	for _, name := range defaultClass {
		if sc.Annotations[name] == "true" {
			c.fallback = sc.Name
			c.defaults++
			break
		}
	}
}

func (v *volumes) record(o inventory.Object, p podTemplate, name string) podRecord {
	r := podRecord{object: o, node: p.spec.NodeName, os: askedOS(p), volumes: v.of(p, name)}
	if class := p.spec.RuntimeClassName; class != nil {
		r.runtimeClass = *class
	}
	if s := podtext.Scheduling(p.spec); r.os == "" && (r.runtimeClass != "" || len(s.NodeSelector)+len(s.Terms) > 0) {
		r.asks = &s
	}
	return r
}

// of lists the volumes of a pod that a CSI driver may serve. A generic
// ephemeral volume's claim bears the pod's name and the volume's:
// https://kubernetes.io/docs/concepts/storage/ephemeral-volumes/
func (v *volumes) of(p podTemplate, pod string) []volumeRecord {
	var out []volumeRecord
	for i := range p.spec.Volumes {
		vol := &p.spec.Volumes[i]
		r := volumeRecord{name: vol.Name}
		switch {
		case vol.PersistentVolumeClaim != nil:
			r.claim = vol.PersistentVolumeClaim.ClaimName
		case vol.Ephemeral != nil:
			if pod != "" {
				r.claim = pod + "-" + vol.Name
			}
			if t := vol.Ephemeral.VolumeClaimTemplate; t != nil {
				r.class = t.Spec.StorageClassName
			}
		case vol.CSI != nil:
			r.inline, r.direct = true, backing{provisioner: vol.CSI.Driver}
		case translator.IsInlineMigratable(vol):
			plugin, err := translator.GetInTreePluginNameFromSpec(nil, vol)
			if err != nil {
				continue
			}
			r.inline, r.direct = true, backing{provisioner: csiName(plugin), inTree: plugin}
		default:
			continue
		}
		r.at = p.evidence(volumeText(r), "volumes", i)
		out = append(out, r)
	}
	return out
}

// workload keeps a template that may ask for Windows and has volumes, unless what it
// is in makes no pods of its own: a job that is suspended or ended, or what was made by a
// workload that has the template too. claims are storage classes by the name of a template.
func (v *volumes) workload(o inventory.Object, meta metav1.Object, replicas *int32, p podTemplate, claims map[string]*string) {
	none := replicas != nil && *replicas == 0
	if none && strings.HasSuffix(o.Kind, "Job") || ofWorkload(meta) || askedOS(p) == linux {
		return
	}
	r := v.record(o, p, "")
	r.idle = none
	for i, m := range p.spec.Containers {
		for j, mount := range m.VolumeMounts {
			if class, ok := claims[mount.Name]; ok {
				at := p.evidence(mount.Name, "containers", i, "volumeMounts", j)
				r.volumes = append(r.volumes, volumeRecord{name: mount.Name, claim: mount.Name + "-" + o.Name + "-0", class: class, at: at})
				delete(claims, mount.Name)
			}
		}
	}
	if len(r.volumes) > 0 {
		v.templates = append(v.templates, r)
	}
}

// between is the kind of what a workload makes for its pods: an object whose name is
// the workload's with one more part.
var between = map[string]string{"Deployment": "ReplicaSet", "CronJob": "Job", "DeploymentConfig": "ReplicationController"}

// ofWorkload tells of what a workload made, such as a Deployment's ReplicaSet. What an
// operator's own kind owns is a workload itself.
func ofWorkload(meta metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(meta)
	return owner != nil && between[owner.Kind] != ""
}
