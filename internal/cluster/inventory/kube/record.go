package kube

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/podtext"
)

var endpointFlags = []string{"endpoint", "csi-endpoint", "csi_endpoint", "csiEndpoint", "server-socket"}

// known finds the catalog's drivers by what manifests call them. A name that two
// drivers share means neither.
type known struct{ *catalog.Catalog }

// taken is what was kept of the first of two objects with one name, and where
// it was read.
type taken struct {
	where string
	kept  any
}

// difference is one between two copies of an object. Whether it changes an
// answer is known once all was read.
type difference struct {
	object        inventory.Object
	first, second taken
}

// podRecord is what is kept of a pod, or of a pod template, that has volumes.
type podRecord struct {
	object inventory.Object
	node   string
	runs   bool
	os     string // what it asks for itself, "" for none
	// asks is what else keeps it to some nodes; nil where os tells.
	asks         *inventory.Scheduling
	runtimeClass string
	volumes      []volumeRecord
	// idle: a workload of no pods, until somebody scales it up.
	idle bool
}

type volumeRecord struct {
	name  string
	claim string
	// class is that of a generic ephemeral volume's claim.
	class  *string
	direct backing // of an inline volume
	inline bool
	at     inventory.Evidence
}

type runKey struct {
	set       key
	container string
	image     string // status' imageID
}

// brokenKey is a container of a DaemonSet's pods, and why it doesn't run.
type brokenKey struct {
	set               key
	container, reason string
}

type podTemplate struct {
	spec *corev1.PodSpec
	base []any
	at   Locator // of the whole object
}

type container struct {
	*corev1.Container
	path  []any
	image inventory.Image
	err   error // of the image reference
	words []podtext.Word
}

// key is a namespaced name.
type key struct{ namespace, name string }

// volumes is what the joins between pods, claims and volumes need.
type volumes struct {
	pods      []podRecord
	templates []podRecord
	// countTemplates: see CountTemplates.
	countTemplates bool
	// owned are the workloads of which a pod was read.
	owned   map[key]bool
	claims  map[key]claim
	pvs     map[string]backing
	byClaim map[key]string // the PV that was made for a claim
	classes map[string]string
	// fallback is the default class, standing is how many there are.
	fallback string
	defaults int
}

// backing is who serves a volume. Neither name is set where no CSI driver
// does: NFS, local, hostPath.
type backing struct {
	provisioner string
	inTree      string
	migratedTo  string
	// maker is the provisioner that made the volume, "" for a person.
	maker string
	// affinity is what keeps the volume to some nodes.
	affinity []inventory.Term
}

type claim struct {
	volume string
	class  *string
	// maker is the provisioner of the claim's annotation.
	maker      string
	migratedTo string
}

// wmcoFact is a version that something says WMCO has.
type wmcoFact struct {
	version version.WMCO
	at      inventory.Evidence
	// csv is the ClusterServiceVersion that says so; nil for anything else.
	csv *inventory.ClusterServiceVersion
}

type logLine struct {
	node string
	text string
	at   inventory.Evidence
}

// endpoint is the address that a container serves or uses as a CSI driver.
func (ct *container) endpoint() (podtext.Word, bool) {
	for i, e := range ct.Env {
		if strings.EqualFold(e.Name, "CSI_ENDPOINT") && e.Value != "" {
			return podtext.Word{Text: e.Value, Path: below(ct.path, "env", i, "value")}, true
		}
	}
	return podtext.Flag(ct.words, endpointFlags...)
}

// ended tells of a pod that runs no more; what made it may make another.
func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// askedOS is the system that a pod asks for. Its image's paths and its
// tolerations ask for none: they keep it off no Linux node.
func askedOS(p podTemplate) string {
	if os, _ := scheduledOS(p); os != "" {
		return os
	}
	if o := podWindowsOptions(p); o != nil && o.HostProcess != nil && *o.HostProcess {
		return windows
	}
	return ""
}

func volumeText(r volumeRecord) string {
	switch {
	case r.direct.inTree != "":
		return "inline " + r.direct.inTree
	case r.inline:
		return "inline " + r.direct.provisioner
	case r.claim != "":
		return "claim " + r.claim
	}
	return "ephemeral"
}

// path is a field's path below the pod's spec.
func (p podTemplate) path(more ...any) []any { return below(p.base, more...) }

func (p podTemplate) evidence(text string, path ...any) inventory.Evidence {
	return inventory.Evidence{Where: p.at(p.path(path...)...), Text: text}
}

func (p podTemplate) containers() []container {
	out := make([]container, 0, len(p.spec.Containers))
	for _, at := range p.lasting() {
		ct, path := at.ct, at.path
		img, err := podtext.ParseImage(ct.Image)
		out = append(out, container{Container: ct, path: path, image: img, err: err, words: podtext.Words(ct, path)})
	}
	return out
}

// lasting are the containers that run as long as the pod does, with their
// paths: init containers that restart are sidecars like the others,
// https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/
func (p podTemplate) lasting() (all []placed) {
	for i := range p.spec.Containers {
		all = append(all, placed{&p.spec.Containers[i], p.path("containers", i)})
	}
	for i := range p.spec.InitContainers {
		ct := &p.spec.InitContainers[i]
		if ct.RestartPolicy != nil && *ct.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			all = append(all, placed{ct, p.path("initContainers", i)})
		}
	}
	return all
}

// placed is a container with its path in the object.
type placed struct {
	ct   *corev1.Container
	path []any
}

func (p podTemplate) imageAt(ct *container) inventory.Evidence {
	return inventory.Evidence{Where: p.at(below(ct.path, "image")...), Text: ct.Image}
}

// below makes a path under base, without touching base's array.
func below(base []any, more ...any) []any { return append(slices.Clip(base), more...) }
