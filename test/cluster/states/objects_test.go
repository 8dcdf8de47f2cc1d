package states

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// fields is an object of a kind that isn't in k8s.io/api.
type fields = map[string]any

// objects are the cluster as a list of all would show it.
func (c *cluster) objects() []any {
	list := []any{c.clusterVersion(), c.infrastructure(), c.storage()}
	for _, s := range c.spaces {
		labels := map[string]string{"kubernetes.io/metadata.name": s.name}
		for k, v := range s.labels {
			labels[k] = v
		}
		list = append(list, &corev1.Namespace{TypeMeta: kind("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: s.name, Labels: labels}})
	}
	list = append(list, c.linuxNode(), c.linuxCSINode())
	for i := range c.nodes {
		list = append(list, c.windowsNode(i), c.csiNode(i))
	}
	for i := range c.linux {
		list = append(list, c.daemonSet(&c.linux[i]), c.clusterCSIDriver(&c.linux[i]))
	}
	for i := range c.drivers {
		d := &c.drivers[i]
		list = append(list, c.daemonSet(d))
		for _, n := range c.readyOn(d) {
			list = append(list, c.driverPod(d, n))
		}
	}
	for _, v := range c.volumes {
		list = append(list, c.workload(v)...)
	}
	if c.wmco != "" {
		list = append(list, c.csv(), c.subscription(), c.services())
	}
	list = append(list, c.gates()...)
	list = append(list, c.pool("master", false), c.pool("worker", c.pausedPools))
	if c.plain {
		list = slices.DeleteFunc(list, func(o any) bool {
			switch o := o.(type) {
			case fields:
				return true
			case *corev1.ConfigMap:
				return true
			case *corev1.Namespace:
				return strings.HasPrefix(o.Name, "openshift")
			case *corev1.Node:
				delete(o.Labels, "node.openshift.io/os_id")
			}
			return false
		})
	}
	return append(list, c.extra...)
}

func kind(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

func custom(apiVersion, kind, namespace, name string, rest fields) fields {
	metadata := fields{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	o := fields{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
	for k, v := range rest {
		o[k] = v
	}
	return o
}

func (c *cluster) clusterVersion() fields {
	history := []any{fields{"version": c.release, "state": "Completed", "image": "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("1a", 32), "verified": true, "startedTime": "2026-10-01T08:00:00Z", "completionTime": "2026-10-01T09:00:00Z"}}
	if c.updating != "" {
		history = append([]any{fields{"version": c.updating, "state": "Partial", "image": "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("2b", 32), "verified": true, "startedTime": "2026-11-20T08:00:00Z"}}, history...)
	}
	progressing := "False"
	if c.updating != "" {
		progressing = "True"
	}
	conditions := []any{fields{"type": "Available", "status": "True"}, fields{"type": "Progressing", "status": progressing}, fields{"type": "Failing", "status": "False"}}
	if c.notUpgradeable[0] != "" {
		conditions = append(conditions, fields{"type": "Upgradeable", "status": "False", "reason": c.notUpgradeable[0], "message": c.notUpgradeable[1], "lastTransitionTime": "2026-11-01T08:00:00Z"})
	}
	status := fields{"desired": fields{"version": c.desired(), "image": history[0].(fields)["image"]}, "history": history, "conditions": conditions, "observedGeneration": 1, "versionHash": "x"}
	var updates []any
	for _, v := range c.offered {
		updates = append(updates, fields{"version": v, "image": "quay.io/openshift-release-dev/ocp-release@sha256:" + strings.Repeat("3c", 32)})
	}
	status["availableUpdates"] = updates
	var conditional []any
	for _, v := range c.risky {
		conditional = append(conditional, fields{"release": fields{"version": v}, "conditions": []any{fields{"type": "Recommended", "status": cmp.Or(c.recommended, "False"), "reason": "SlowDisks"}}})
	}
	status["conditionalUpdates"] = conditional
	return custom("config.openshift.io/v1", "ClusterVersion", "", "version", fields{
		"spec": fields{"channel": c.channel, "clusterID": "6f0c9c5e-4f6b-4f42-9a3a-2f3c1c8f4f10"}, "status": status,
	})
}

func (c *cluster) infrastructure() fields {
	return custom("config.openshift.io/v1", "Infrastructure", "", "cluster", fields{
		"spec": fields{"platformSpec": fields{"type": c.platform}}, "status": fields{"platform": c.platform, "platformStatus": fields{"type": c.platform}},
	})
}

func (c *cluster) storage() fields {
	return custom("operator.openshift.io/v1", "Storage", "", "cluster", fields{"spec": fields{"managementState": "Managed"}, "status": fields{}})
}

func (c *cluster) clusterCSIDriver(d *driver) fields {
	return custom("operator.openshift.io/v1", "ClusterCSIDriver", "", d.provisioner, fields{"spec": fields{"managementState": cmp.Or(c.managed, "Managed")}, "status": fields{}})
}

func (c *cluster) pool(name string, paused bool) fields {
	return custom("machineconfiguration.openshift.io/v1", "MachineConfigPool", "", name, fields{"spec": fields{"paused": paused}, "status": fields{}})
}

// olmLabel is OLM's mark of package and namespace, cut to the 63 characters that a
// label's name may have.
const olmLabel = "operators.coreos.com/windows-machine-config-operator.openshift-windows-machine-confi"

func (c *cluster) csv() fields {
	o := custom("operators.coreos.com/v1alpha1", "ClusterServiceVersion", wmcoNS, "windows-machine-config-operator.v"+c.wmco, fields{
		"spec": fields{"version": c.wmco}, "status": fields{"phase": cmp.Or(c.wmcoPhase, "Succeeded"), "reason": "InstallCheckFailed", "message": "install timeout"},
	})
	o["metadata"].(fields)["labels"] = map[string]any{olmLabel: ""}
	return o
}

// subscriptionName isn't the console's: whoever installs by oc chooses one.
const subscriptionName = "wmco"

func (c *cluster) subscription() fields {
	return custom("operators.coreos.com/v1alpha1", "Subscription", wmcoNS, subscriptionName, fields{
		"spec":   fields{"name": "windows-machine-config-operator", "channel": "stable", "source": "redhat-operators", "sourceNamespace": "openshift-marketplace", "installPlanApproval": "Automatic"},
		"status": fields{"installedCSV": "windows-machine-config-operator.v" + c.wmco},
	})
}

// services is WMCO's list of what its nodes run; csi-proxy is in it from 7.2 and
// 8.1 on.
func (c *cluster) services() *corev1.ConfigMap {
	type service struct {
		Name string `json:"name"`
		Path string `json:"path"`
	}
	list := []service{{"containerd", `C:\k\containerd\containerd.exe`}, {"kubelet", `C:\k\kubelet.exe --config=C:\k\kubelet.conf`}, {"windows_exporter", `C:\k\windows_exporter.exe`}}
	if c.hasProxy() {
		list = append(list, service{"csi-proxy", `C:\k\csi-proxy.exe -log_file=C:\var\log\csi-proxy\csi-proxy.log -logtostderr=false -windows-service --v=2`})
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return &corev1.ConfigMap{TypeMeta: kind("v1", "ConfigMap"), ObjectMeta: metav1.ObjectMeta{Namespace: wmcoNS, Name: "windows-services-" + c.wmco + "-1a2b3c4"}, Data: map[string]string{"services": string(text), "files": "[]"}}
}

func (c *cluster) hasProxy() bool {
	return !slices.ContainsFunc([]string{"7.0", "7.1", "8.0"}, func(old string) bool { return strings.HasPrefix(c.wmco, old+".") })
}

// gates are the acknowledgements that the release asks for, and those given.
func (c *cluster) gates() []any {
	gates := map[string]string{}
	switch minor(c.release) {
	case "4.12":
		gates["ack-4.12-kube-1.26-api-removals-in-4.13"] = "Kubernetes 1.26 and therefore OpenShift 4.13 remove several APIs."
	case "4.13":
		gates["ack-4.13-kube-1.27-api-removals-in-4.14"] = "Kubernetes 1.27 and therefore OpenShift 4.14 remove several APIs."
	}
	acks := map[string]string{}
	for _, key := range c.acks {
		acks[key] = "true"
	}
	return []any{
		&corev1.Namespace{TypeMeta: kind("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "openshift-config"}},
		&corev1.Namespace{TypeMeta: kind("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: "openshift-config-managed"}},
		&corev1.ConfigMap{TypeMeta: kind("v1", "ConfigMap"), ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config-managed", Name: "admin-gates"}, Data: gates},
		&corev1.ConfigMap{TypeMeta: kind("v1", "ConfigMap"), ObjectMeta: metav1.ObjectMeta{Namespace: "openshift-config", Name: "admin-acks"}, Data: acks},
	}
}

func (c *cluster) linuxNode() *corev1.Node {
	return &corev1.Node{
		TypeMeta:   kind("v1", "Node"),
		ObjectMeta: metav1.ObjectMeta{Name: "worker-1", Labels: map[string]string{"kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": ""}},
		Status: corev1.NodeStatus{
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			NodeInfo:   corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", KubeletVersion: since[minor(c.release)].kubelet, OSImage: "Red Hat Enterprise Linux CoreOS"},
		},
	}
}

func (c *cluster) linuxCSINode() *storagev1.CSINode {
	o := &storagev1.CSINode{TypeMeta: kind("storage.k8s.io/v1", "CSINode"), ObjectMeta: metav1.ObjectMeta{Name: "worker-1"}}
	o.Spec.Drivers = []storagev1.CSINodeDriver{}
	var names []string
	for i := range c.linux {
		names = append(names, c.linux[i].provisioner)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		o.Spec.Drivers = append(o.Spec.Drivers, storagev1.CSINodeDriver{Name: name, NodeID: "id-of-worker-1"})
	}
	return o
}

func (c *cluster) windowsNode(i int) *corev1.Node {
	n := c.nodes[i]
	o := &corev1.Node{TypeMeta: kind("v1", "Node"), ObjectMeta: metav1.ObjectMeta{Name: n.name, Labels: nodeLabels(n)}}
	o.Spec.Taints = []corev1.Taint{{Key: "os", Value: "Windows", Effect: corev1.TaintEffectNoSchedule}}
	if n.taint != "" {
		o.Spec.Taints = append(o.Spec.Taints, corev1.Taint{Key: n.taint, Value: "true", Effect: corev1.TaintEffectNoSchedule})
	}
	if n.wmco != "" {
		o.Annotations = map[string]string{"windowsmachineconfig.openshift.io/version": n.wmco + "-1a2b3c4", "windowsmachineconfig.openshift.io/desired-version": n.wmco + "-1a2b3c4"}
	}
	ready := corev1.ConditionTrue
	if n.down {
		ready = corev1.ConditionUnknown
	}
	o.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	o.Status.NodeInfo = corev1.NodeSystemInfo{
		OperatingSystem: "windows", Architecture: "amd64", OSImage: editions[n.build], KernelVersion: fmt.Sprintf("10.0.%d.3453", n.build),
		KubeletVersion: n.kubelet, ContainerRuntimeVersion: n.runtime,
	}
	return o
}

var editions = map[int]string{17763: "Windows Server 2019 Datacenter", 20348: "Windows Server 2022 Datacenter", 26100: "Windows Server 2025 Datacenter"}

func nodeLabels(n node) map[string]string {
	labels := map[string]string{
		"kubernetes.io/os": "windows", "kubernetes.io/arch": "amd64", "node.openshift.io/os_id": "Windows", "node-role.kubernetes.io/worker": "",
		"node.kubernetes.io/windows-build": fmt.Sprintf("10.0.%d", n.build), "kubernetes.io/hostname": n.name,
	}
	for k, v := range n.labels {
		labels[k] = v
	}
	return labels
}

// migratedPlugins is what a kubelet says that has moved all to CSI.
const migratedPlugins = "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/vsphere-volume"

func (c *cluster) csiNode(i int) *storagev1.CSINode {
	n := c.nodes[i]
	o := &storagev1.CSINode{TypeMeta: kind("storage.k8s.io/v1", "CSINode"), ObjectMeta: metav1.ObjectMeta{Name: n.name}}
	if !n.unmigrated {
		o.Annotations = map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": migratedPlugins}
	}
	o.Spec.Drivers = []storagev1.CSINodeDriver{}
	var names []string
	for k := range c.drivers {
		d := &c.drivers[k]
		// The object of a node that is down says what it had.
		if (slices.Contains(c.readyOn(d), i) || n.down && !d.broken && slices.Contains(c.scheduled(d), i)) && !slices.Contains(names, d.provisioner) {
			names = append(names, d.provisioner)
			o.Spec.Drivers = append(o.Spec.Drivers, storagev1.CSINodeDriver{Name: d.provisioner, NodeID: "id-of-" + n.name, TopologyKeys: n.topology})
		}
	}
	return o
}

// scheduled are the Windows nodes that a driver's DaemonSet takes.
func (c *cluster) scheduled(d *driver) []int {
	var list []int
	for i, n := range c.nodes {
		if d.linux || !selects(d.nodeSelector, nodeLabels(n)) || !tolerates(d.tolerations, "os") || n.taint != "" && !tolerates(d.tolerations, n.taint) {
			continue
		}
		list = append(list, i)
	}
	return list
}

func selects(selector, labels map[string]string) bool {
	for k, v := range selector {
		if have, ok := labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}

func tolerates(list []corev1.Toleration, key string) bool {
	return slices.ContainsFunc(list, func(t corev1.Toleration) bool { return t.Key == "" || t.Key == key })
}

// readyOn are those where it runs and is registered.
func (c *cluster) readyOn(d *driver) []int {
	var list []int
	for _, i := range c.scheduled(d) {
		if !d.broken && !c.nodes[i].down && (d.runsOn == nil || slices.Contains(d.runsOn, i)) {
			list = append(list, i)
		}
	}
	return list
}

func (c *cluster) daemonSet(d *driver) *appsv1.DaemonSet {
	o := &appsv1.DaemonSet{
		TypeMeta:   kind("apps/v1", "DaemonSet"),
		ObjectMeta: metav1.ObjectMeta{Namespace: d.namespace, Name: d.name, Labels: d.labels, Annotations: d.annotations, Generation: 1},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: d.selector}, Template: d.template()},
	}
	if d.operated {
		o.Annotations = map[string]string{"operator.openshift.io/spec-hash": strings.Repeat("7e", 32)}
	}
	o.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType}
	if d.onDelete {
		o.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
	} else {
		one := intstr.FromInt32(1)
		o.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &one}
	}
	desired, ready := len(c.scheduled(d)), len(c.readyOn(d))
	if d.linux {
		desired, ready = 1, 1
	}
	o.Status = appsv1.DaemonSetStatus{
		ObservedGeneration: 1, DesiredNumberScheduled: int32(desired), CurrentNumberScheduled: int32(desired), NumberReady: int32(ready), NumberAvailable: int32(ready),
		NumberUnavailable: int32(desired - ready), UpdatedNumberScheduled: int32(desired - len(d.stale)),
	}
	return o
}

func (d *driver) template() corev1.PodTemplateSpec {
	spec := corev1.PodSpec{NodeSelector: d.nodeSelector, Tolerations: d.tolerations, ServiceAccountName: d.name + "-sa"}
	if d.linux {
		spec.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
		spec.Containers, spec.Volumes = d.linuxContainers()
	} else {
		spec.OS = &corev1.PodOS{Name: corev1.Windows}
		spec.Containers, spec.Volumes = d.windowsContainers()
	}
	if d.hostProcess {
		yes, user := true, `NT AUTHORITY\SYSTEM`
		spec.HostNetwork = true
		spec.SecurityContext = &corev1.PodSecurityContext{WindowsOptions: &corev1.WindowsSecurityContextOptions{HostProcess: &yes, RunAsUserName: &user}}
	}
	return corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: d.selector}, Spec: spec}
}

func (d *driver) windowsContainers() ([]corev1.Container, []corev1.Volume) {
	folder := `C:\var\lib\kubelet\plugins\` + d.provisioner
	endpoint := `unix://C:\csi\csi.sock`
	if d.hostProcess {
		endpoint = "unix://" + folder + `\csi.sock`
	}
	env := []corev1.EnvVar{
		{Name: "CSI_ENDPOINT", Value: endpoint}, {Name: "CSI_NAMESPACE", ValueFrom: field("metadata.namespace")},
		{Name: "KUBE_NODE_NAME", ValueFrom: field("spec.nodeName")}, {Name: "DRIVER_REG_SOCK_PATH", Value: folder + `\csi.sock`},
	}
	main := corev1.Container{Name: d.container, Image: d.image, Args: d.args, Env: env}
	reg := corev1.Container{
		Name: "node-driver-registrar", Image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:" + d.registrar,
		Args: []string{"--v=2", "--csi-address=$(CSI_ENDPOINT)", "--kubelet-registration-path=$(DRIVER_REG_SOCK_PATH)"}, Env: env,
	}
	var volumes []corev1.Volume
	host := func(name, path string, kind corev1.HostPathType) corev1.VolumeMount {
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}})
		return corev1.VolumeMount{Name: name, MountPath: path}
	}
	if !d.hostProcess {
		plugin := host("plugin-dir", folder, corev1.HostPathDirectoryOrCreate)
		plugin.MountPath = `C:\csi`
		kubelet := host("kubelet-dir", `C:\var\lib\kubelet`, corev1.HostPathDirectory)
		registration := host("registration-dir", `C:\var\lib\kubelet\plugins_registry`, corev1.HostPathDirectory)
		registration.MountPath = `C:\registration`
		main.VolumeMounts = []corev1.VolumeMount{kubelet, plugin}
		reg.VolumeMounts = []corev1.VolumeMount{plugin, registration}
	} else {
		reg.Args = append(reg.Args, `--plugin-registration-path=C:\var\lib\kubelet\plugins_registry`)
	}
	for _, p := range d.pipes {
		main.VolumeMounts = append(main.VolumeMounts, host("csi-proxy-"+p, `\\.\pipe\csi-proxy-`+p, corev1.HostPathUnset))
	}
	return []corev1.Container{reg, main}, volumes
}

func field(path string) *corev1.EnvVarSource {
	return &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}
}

func (d *driver) linuxContainers() ([]corev1.Container, []corev1.Volume) {
	folder := "/var/lib/kubelet/plugins/" + d.provisioner
	kind := corev1.HostPathDirectoryOrCreate
	volumes := []corev1.Volume{{Name: "plugin-dir", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder + "/", Type: &kind}}}}
	mounts := []corev1.VolumeMount{{Name: "plugin-dir", MountPath: "/csi"}}
	return []corev1.Container{
		{Name: d.container, Image: d.image, Args: []string{"--endpoint=unix:/csi/csi.sock"}, VolumeMounts: mounts},
		{Name: "csi-node-driver-registrar", Image: d.image, Args: []string{"--csi-address=/csi/csi.sock", "--kubelet-registration-path=" + folder + "/csi.sock"}, VolumeMounts: mounts},
	}, volumes
}

func (c *cluster) driverPod(d *driver, node int) *corev1.Pod {
	yes := true
	t := d.template()
	pod := &corev1.Pod{
		TypeMeta: kind("v1", "Pod"),
		ObjectMeta: metav1.ObjectMeta{
			Namespace: d.namespace, Name: fmt.Sprintf("%s-%d", d.name, node), Labels: d.selector,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.name, UID: "0f3e3c9e-7b1c-4c1d-8f53-1f3f5f0b7a11", Controller: &yes}},
		},
		Spec: t.Spec,
	}
	pod.Spec.NodeName = c.nodes[node].name
	stale := slices.Contains(d.stale, node)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	for i := range pod.Spec.Containers {
		in := &pod.Spec.Containers[i]
		if stale && in.Name == d.container {
			in.Image = d.staleImage
		}
		repository, _, _ := strings.Cut(in.Image, "@")
		if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
			repository = repository[:colon]
		}
		id := "sha256:" + digest(in.Image)
		if in.Name == d.container && d.imageID != "" {
			id = d.imageID
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: in.Name, Image: in.Image, ImageID: repository + "@" + id, Ready: true, Started: &yes,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
	return pod
}

// digest is one that a registry could have for an image: of its name.
func digest(image string) string {
	sum := uint64(14695981039346656037)
	for _, b := range []byte(image) {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return strings.Repeat(fmt.Sprintf("%016x", sum), 4)
}

// workload is a pod with one volume.
func (c *cluster) workload(v volume) []any {
	pod := &corev1.Pod{
		TypeMeta: kind("v1", "Pod"), ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-" + v.name},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"kubernetes.io/os": "windows"}, Tolerations: osWindows, OS: &corev1.PodOS{Name: corev1.Windows},
			Containers: []corev1.Container{{Name: "web", Image: "registry.example.com/shop/web:1.4", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: `C:\data`}}}},
			Volumes:    []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.name}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	switch {
	case v.linux:
		pod.Spec.NodeSelector, pod.Spec.Tolerations, pod.Spec.OS, pod.Spec.NodeName = nil, nil, nil, "worker-1"
		pod.Spec.Containers[0].VolumeMounts[0].MountPath = "/data"
	case v.node < 0:
		pod.Status.Phase = corev1.PodPending
	default:
		pod.Spec.NodeName = c.nodes[v.node].name
	}
	storage := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	class := "windows"
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta: kind("v1", "PersistentVolumeClaim"), ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: v.name},
		Spec:   corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, VolumeName: "pv-" + v.name, Resources: corev1.VolumeResourceRequirements{Requests: storage}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
	return []any{pod, claim, v.persistent(storage, class)}
}

func (v volume) persistent(storage corev1.ResourceList, class string) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{
		TypeMeta: kind("v1", "PersistentVolume"), ObjectMeta: metav1.ObjectMeta{Name: "pv-" + v.name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": cmp.Or(v.inTree, v.provisioner)}},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Capacity: storage, StorageClassName: class, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete,
			ClaimRef: &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "shop", Name: v.name}, PersistentVolumeSource: v.source(),
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	}
	if v.migrated {
		pv.Annotations["pv.kubernetes.io/migrated-to"] = migratesTo[v.inTree]
	}
	if v.zone != "" {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: v.zone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-east-1a"}}}}}}}
	}
	return pv
}

var migratesTo = map[string]string{"kubernetes.io/azure-file": azureFileName, "kubernetes.io/azure-disk": azureDiskName, "kubernetes.io/aws-ebs": ebsName, "kubernetes.io/vsphere-volume": vsphereName, "kubernetes.io/gce-pd": gcpName}

func (v volume) source() corev1.PersistentVolumeSource {
	ntfs := "ntfs"
	switch v.inTree {
	case "kubernetes.io/azure-file":
		shop := "shop"
		return corev1.PersistentVolumeSource{AzureFile: &corev1.AzureFilePersistentVolumeSource{SecretName: "share", SecretNamespace: &shop, ShareName: "data"}}
	case "kubernetes.io/azure-disk":
		managed := corev1.AzureManagedDisk
		return corev1.PersistentVolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: "data", DataDiskURI: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/data", Kind: &managed, FSType: &ntfs}}
	case "kubernetes.io/aws-ebs":
		return corev1.PersistentVolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "aws://us-east-1a/vol-0123456789abcdef0", FSType: ntfs}}
	case "kubernetes.io/vsphere-volume":
		return corev1.PersistentVolumeSource{VsphereVolume: &corev1.VsphereVirtualDiskVolumeSource{VolumePath: "[datastore] kubevols/data.vmdk", FSType: ntfs}}
	}
	return corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: v.provisioner, VolumeHandle: "handle-" + v.name, FSType: ntfs}}
}
