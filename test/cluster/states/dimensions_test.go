package states

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/internal/base/finding"
)

// dimension is a cluster that is well but for one thing, and what is to be said of it.
type dimension struct {
	name    string
	cluster *cluster
	to      string
	edit    []any // of one kind of object each
	verdict finding.Severity
	rules   string // those as loud as the verdict
	act     string // in the first step; "" for whatever it is
}

// Edits of all Windows objects of a kind.
type (
	onNode    func(*corev1.Node)
	onSet     func(*appsv1.DaemonSet)
	onPod     func(*corev1.Pod)
	onVersion func(status fields)
	onPool    func(pool fields)
)

// noneReady: no pod of the driver is ready.
var noneReady = onSet(func(ds *appsv1.DaemonSet) {
	ds.Status.NumberReady, ds.Status.NumberAvailable, ds.Status.NumberUnavailable = 0, 0, 2
})

// unproven: no CSINode lists the driver, and no pod of it is ready, so that what its
// manifest says counts.
var unproven = []any{
	func(n *storagev1.CSINode) { n.Spec.Drivers = nil },
	noneReady,
}

func build(kernel, label string) onNode {
	return func(n *corev1.Node) {
		n.Status.NodeInfo.KernelVersion, n.Labels["node.kubernetes.io/windows-build"] = kernel, label
	}
}

func containerd(version string) onNode {
	return func(n *corev1.Node) { n.Status.NodeInfo.ContainerRuntimeVersion = version }
}

func condition(kind, status, reason string) onVersion {
	return func(s fields) {
		others := slices.DeleteFunc(s["conditions"].([]any), func(c any) bool { return c.(fields)["type"] == kind })
		s["conditions"] = append(others, fields{"type": kind, "status": status, "reason": reason, "message": "something is wrong"})
	}
}

// variable sets an environment variable of the registrar.
func variable(name, value string) onSet {
	return func(ds *appsv1.DaemonSet) {
		for i := range ds.Spec.Template.Spec.Containers {
			c := &ds.Spec.Template.Spec.Containers[i]
			c.Env = slices.Clone(c.Env) // the containers share it
			for j := range c.Env {
				if strings.Contains(c.Name, "registrar") && c.Env[j].Name == name {
					c.Env[j].Value = value
				}
			}
		}
	}
}

// hostPath moves the volume whose path has a part.
func hostPath(part, to string) onSet {
	return func(ds *appsv1.DaemonSet) {
		for _, v := range ds.Spec.Template.Spec.Volumes {
			if v.HostPath != nil && strings.Contains(v.HostPath.Path, part) {
				v.HostPath.Path = to
			}
		}
	}
}

// onDriverPod is for the pods that a DaemonSet made.
func onDriverPod(edit func(*corev1.Pod)) onPod {
	return func(p *corev1.Pod) {
		if metav1.GetControllerOf(p) != nil {
			edit(p)
		}
	}
}

// waiting has the pods of the driver wait for a reason.
func waiting(reason string) []any {
	return []any{
		noneReady,
		onDriverPod(func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}}
			for _, c := range p.Spec.Containers {
				p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: c.Name, Image: c.Image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}})
			}
		}),
	}
}

// tagged gives the driver another image, in the DaemonSet and its pods.
func tagged(image string) []any {
	return []any{
		onSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers[1].Image = image }),
		onDriverPod(func(p *corev1.Pod) { p.Spec.Containers[1].Image, p.Status.ContainerStatuses[1].Image = image, image }),
	}
}

// perContainer says of each container what the pod says of all.
func perContainer(ds *appsv1.DaemonSet) {
	spec := &ds.Spec.Template.Spec
	for i := range spec.Containers {
		spec.Containers[i].SecurityContext = &corev1.SecurityContext{WindowsOptions: spec.SecurityContext.WindowsOptions}
	}
	spec.SecurityContext = nil
}

// mounts has the driver mount one more path of the node.
func mounts(path string, kind corev1.HostPathType) onSet {
	return func(ds *appsv1.DaemonSet) {
		spec := &ds.Spec.Template.Spec
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "more", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}})
		spec.Containers[1].VolumeMounts = append(spec.Containers[1].VolumeMounts, corev1.VolumeMount{Name: "more", MountPath: strings.TrimSuffix(path, `\`)})
	}
}

func dimensions() []dimension {
	host := func(mods ...mod) *cluster {
		return openshift("4.20.6", "VSphere", append([]mod{uses(vsphereName), with(vsphereHost("v3.5.0")), offers("4.20.9", "4.21.9")}, mods...)...)
	}
	recommended := func(status string) mod {
		return func(c *cluster) { c.risky, c.recommended = []string{"4.21.9"}, status }
	}
	pipes := func() *cluster { return openshift("4.19.12", "Azure", uses(azureFileName), with(azureFile("v1.33.2"))) }
	folder := `C:\var\lib\kubelet\plugins\csi.vsphere.vmware.com`
	return []dimension{
		{"the registrar dials another socket", host(), "4.21", append(unproven, variable("CSI_ENDPOINT", "unix://"+folder+`\other.sock`)), block, "REG001 REG006", "--csi-address"},
		{"another socket is registered", host(), "4.21", append(unproven, variable("DRIVER_REG_SOCK_PATH", folder+`\other.sock`)), block, "REG001 REG006", "be one file of the node"},
		{"the driver's folder is another driver's", pipes(), "4.20", append(unproven, hostPath("file.csi.azure.com", `C:\var\lib\kubelet\plugins\other\`)), block, "REG001 REG006", "be one file of the node"},
		{"the registration folder isn't the kubelet's", pipes(), "4.20", append(unproven, hostPath("plugins_registry", `C:\var\lib\kubelet\plugins\`)), block, "REG001 REG006", "plugins_registry"},
		{"forward slashes in a path, and it works", host(), "4.21", []any{variable("DRIVER_REG_SOCK_PATH", strings.ReplaceAll(folder, `\`, "/")+"/csi.sock")}, pass, "", ""},
		{"a small drive letter, and it works", host(), "4.21", []any{variable("DRIVER_REG_SOCK_PATH", "c"+folder[1:]+`\csi.sock`)}, pass, "", ""},

		{"Server 2022 before its least revision", host(), "4.21", []any{build("10.0.20348.500", "10.0.20348")}, warn, "NODE006", "install the updates of Windows"},
		{"Server 2016", host(), "4.21", []any{build("10.0.14393.4000", "10.0.14393")}, warn, "NODE006", ""},
		{"20H2", host(), "4.21", []any{build("10.0.19042.1526", "10.0.19042")}, warn, "NODE006", ""},
		{"Server 2025 before the operator takes it", host(), "4.21", []any{build("10.0.26100.4000", "10.0.26100")}, warn, "NODE006", ""},
		{"Server 2025 when the operator takes it", openshift("4.21.9", "VSphere", uses(vsphereName), with(vsphereHost("v3.6.0"))), "4.22", []any{build("10.0.26100.4000", "10.0.26100")}, pass, "", ""},
		{"a kernel that says nothing", host(), "4.21", []any{build("", "")}, pass, "", ""},

		{"containerd 2.1 on the operator's node", host(), "4.21", []any{containerd("containerd://2.1.4")}, pass, "", ""},
		{"containerd that is no version", host(), "4.21", []any{containerd("containerd://Unknown")}, pass, "", ""},
		{"containerd 1.6 on the operator's node", host(), "4.21", []any{containerd("containerd://1.6.8")}, pass, "", ""},

		{"Failing", host(), "4.21", []any{condition("Failing", "True", "ClusterOperatorDegraded")}, block, "UPDATE004", ""},
		{"Failing isn't known", host(), "4.21", []any{condition("Failing", "Unknown", "NoData")}, pass, "", ""},
		{"Upgradeable is False", host(), "4.21", []any{condition("Upgradeable", "False", "Operators")}, block, "UPDATE001", ""},
		{"the release has a known risk", openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0")), change(func(c *cluster) { c.risky = []string{"4.21.9"} })), "4.21.9", nil, warn, "UPDATE003", ""},
		{"another release has the risk", openshift("4.20.6", "VSphere", uses(vsphereName), with(vsphereHost("v3.5.0")), offers("4.21.8"), change(func(c *cluster) { c.risky = []string{"4.21.9"} })), "4.21.8", nil, pass, "", ""},
		{"a paused pool", host(), "4.21", []any{onPool(func(p fields) { p["spec"] = fields{"paused": true} })}, warn, "UPDATE005", ""},
		{"no update was ever complete", host(), "4.21", []any{onVersion(func(s fields) { s["history"] = []any{} })}, unknown, "DATA001", ""},

		{"the driver crashes", host(), "4.21", waiting("CrashLoopBackOff"), block, "REG004", "CrashLoopBackOff"},
		{"the driver's image can't be pulled", host(), "4.21", waiting("ImagePullBackOff"), block, "REG004", "ImagePullBackOff"},
		{"the driver's pods find no room", host(), "4.21", []any{
			noneReady,
			onDriverPod(func(p *corev1.Pod) {
				p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{p.Spec.NodeName}}}}}}}}
				p.Spec.NodeName = ""
				p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available: 1 Insufficient memory."}}}
			}),
		}, block, "REG004", "Insufficient memory"},
		{"the driver crashes, and nobody uses it", openshift("4.20.6", "VSphere", with(vsphereHost("v3.5.0"))), "4.21", waiting("CrashLoopBackOff"), warn, "REG004", ""},
		{"no CSINode lists the driver", host(), "4.21", []any{func(n *storagev1.CSINode) { n.Spec.Drivers = nil }}, block, "REG001", ""},
		{"only a pod that has ended uses a volume", openshift("4.20.6", "VSphere", uses(vsphereName)), "4.21", []any{onPod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })}, pass, "", ""},
		{"a volume of a driver that is nowhere", host(), "4.21", []any{func(pv *corev1.PersistentVolume) { pv.Spec.CSI.Driver = "nfs.example.com" }}, block, "REG001", ""},
		{"a pod's own volume of a driver that is nowhere", host(), "4.21", []any{onPod(func(p *corev1.Pod) {
			for i := range p.Spec.Volumes {
				if p.Spec.Volumes[i].PersistentVolumeClaim != nil {
					p.Spec.Volumes[i].VolumeSource = corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "secrets-store.csi.k8s.io"}}
				}
			}
		})}, block, "REG001", ""},
		{"the driver by digest alone", host(), "4.21", []any{onSet(func(ds *appsv1.DaemonSet) {
			c := &ds.Spec.Template.Spec.Containers[len(ds.Spec.Template.Spec.Containers)-1]
			c.Image = "registry.k8s.io/csi-vsphere/driver@sha256:" + strings.Repeat("a", 64)
		}), onPod(func(p *corev1.Pod) {
			for i := range p.Spec.Containers {
				p.Spec.Containers[i].Image = strings.Replace(p.Spec.Containers[i].Image, "driver:v3.5.0", "driver@sha256:"+strings.Repeat("a", 64), 1)
			}
		})}, unknown, "SKEW005", ""},
		{"a cordoned node", host(), "4.21", []any{onNode(func(n *corev1.Node) { n.Spec.Unschedulable = true })}, pass, "", ""},
		{"a node of EKS", host(), "", []any{onNode(func(n *corev1.Node) { n.Status.NodeInfo.KubeletVersion = "v1.33.5-eks-113cf36" })}, pass, "", ""},

		{"ahead of either version that may come", openshift("4.20.6", "Azure", uses(azureDiskName), with(azureDiskHost("v1.34.2-windows-hp"))), "4.21", nil, pass, "", ""},
		{"the toleration was taken away, and the pods run still", host(), "4.21", []any{
			onSet(func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Tolerations = upstreamOS }),
			onDriverPod(func(p *corev1.Pod) { p.Spec.Tolerations = upstreamOS }),
		}, warn, "NODE004", "toleration operator: Exists"},
		{"no operator, containerd 1.6, drivers run", host(noWMCO), "4.21", []any{containerd("containerd://1.6.8")}, warn, "NODE007", ""},
		{"no operator, containerd 1.5, driver never started", host(noWMCO), "4.21", append(slices.Clone(unproven), containerd("containerd://1.5.13")), block, "NODE005 REG001", ""},
		{"no operator, containerd 2.3.6", host(noWMCO), "4.21", []any{containerd("containerd://2.3.6")}, pass, "", ""},
		{"no runtime told", host(), "4.21", []any{containerd("")}, pass, "", ""},

		{"Server 2019 on AWS, 4.20 to 4.21", openshift("4.20.6", "AWS", onWindows(17763), uses(ebsName), with(ebs("v1.45.0"))), "4.21", nil, pass, "", ""},
		{"Windows 11", host(), "4.21", []any{build("10.0.22631.3447", "10.0.22631")}, warn, "NODE006", ""},
		{"Server 2019 on vSphere", host(), "4.21", []any{build("10.0.17763.5000", "10.0.17763")}, warn, "NODE006", ""},

		{"a conditional update whose risk isn't known", host(recommended("Unknown"), offers("4.20.9")), "4.21.9", nil, warn, "UPDATE003", ""},
		{"a conditional update that is recommended", host(recommended("True")), "4.21.9", nil, pass, "", ""},
		{"updates can't be retrieved", host(func(c *cluster) { c.offered = nil }), "4.21", []any{condition("RetrievedUpdates", "False", "RemoteFailed")}, pass, "", ""},
		{"no channel", host(func(c *cluster) { c.channel = "" }), "4.21", nil, pass, "", ""},

		{"the driver's config is missing", host(), "4.21", waiting("CreateContainerConfigError"), block, "REG004", "CreateContainerConfigError"},
		{"the driver's pods are being created", host(), "4.21", waiting("ContainerCreating"), block, "REG004", ""},
		{"the image's name is wrong", host(), "4.21", waiting("InvalidImageName"), block, "REG004", "InvalidImageName"},
		{"a container can't start", host(), "4.21", waiting("RunContainerError"), block, "REG004", "RunContainerError"},

		{"the DaemonSet was just changed", host(), "", []any{onSet(func(ds *appsv1.DaemonSet) { ds.Generation = 2 })}, warn, "AFTER001", ""},
		{"host network alone isn't HostProcess", host(), "", []any{onSet(func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.SecurityContext = nil
		}), noneReady, unproven[0]}, block, "HP001 REG001", ""},
		{"HostProcess by each container", host(), "4.21", []any{onSet(perContainer)}, pass, "", ""},

		{"a folder of AKS that isn't there", openshift("4.20.6", "Azure", uses(azureFileName), with(azureFileHost("v1.33.3-windows-hp"))), "4.21", append(slices.Clone(unproven), mounts(`C:\k\`, corev1.HostPathDirectory)), block, "REG001", ""},
		{"another kubelet's folder", pipes(), "4.20", append(slices.Clone(unproven), hostPath("plugins_registry", `D:\kubelet\plugins_registry\`)), block, "REG001 REG006", ""},
		{"registration path without a drive", pipes(), "4.20", append(slices.Clone(unproven), hostPath("plugins_registry", `\var\lib\kubelet\plugins_registry\`)), block, "REG001", ""},

		{"the tag of Windows' own image", host(), "4.21", tagged("registry.example.com/csi/driver:v3.5.0-windows-ltsc2022-amd64"), pass, "", ""},
		{"a tag without v", host(), "4.21", tagged("quay.io/acme/vsphere-csi-driver:3.5.0"), pass, "", ""},
		{"a tag with a build of one's own", host(), "4.21", tagged("quay.io/acme/vsphere-csi-driver:v3.5.0_acme.1"), unknown, "SKEW005", ""},
		{"a tag with a build of one's own, by a dash", host(), "4.21", tagged("quay.io/acme/vsphere-csi-driver:v3.5.0-acme.1"), unknown, "SKEW005", ""},
		{"a candidate of the version", host(), "4.21", tagged("registry.k8s.io/csi-vsphere/driver:v3.5.0-rc.1"), pass, "", ""},

		{"the operator is a release ahead", host(operator("10.21.1"), nodesOf("4.21")), "", nil, block, "NODE001", ""},
		{"an acknowledgement that isn't true", openshift("4.13.50", "Azure", acked("ack-4.13-kube-1.27-api-removals-in-4.14"), uses(azureFileName), with(azureFile("v1.25.1"))), "4.14", []any{func(m *corev1.ConfigMap) {
			for k := range m.Data {
				if m.Name == "admin-acks" {
					m.Data[k] = "True"
				}
			}
		}}, warn, "INTREE005", ""},
	}
}

// TestDimensions changes one thing of a cluster that is well.
func TestDimensions(t *testing.T) {
	t.Parallel()
	for _, d := range dimensions() {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			d.check(t, judge(t, d.asked(t)))
		})
	}
}

// asked writes the cluster's objects, and says what is asked about them.
func (d *dimension) asked(t *testing.T) []string {
	list := d.cluster.objects()
	for _, o := range list {
		for _, edit := range d.edit {
			apply(edit, o)
		}
	}
	file := filepath.Join(t.TempDir(), "cluster.json")
	write(t, file, listOf(t, list))
	asked := []string{"--manifests", file}
	if d.to != "" {
		asked = append(asked, "--to", d.to)
	}
	return asked
}

func (d *dimension) check(t *testing.T, r *answer) {
	verdict := r.Verdict
	if verdict == finding.Info {
		verdict = pass
	}
	if got := grounds(r); verdict != d.verdict || got != d.rules {
		t.Errorf("%s by %q, want %s by %q", r.Verdict, got, d.verdict, d.rules)
	}
	r.holds(t)
	if d.act != "" && !slices.ContainsFunc(r.Steps, func(s step) bool { return strings.Contains(s.What, d.act) }) {
		t.Errorf("no step has %q: %+v", d.act, r.Steps)
	}
}

const (
	pass    = finding.Pass
	warn    = finding.Warn
	block   = finding.Block
	unknown = finding.Unknown
)

// apply makes an edit of an object that it is for.
func apply(edit, object any) {
	windows := func(labels map[string]string) bool { return labels["kubernetes.io/os"] == "windows" }
	switch o := object.(type) {
	case *corev1.Node:
		if f, ok := edit.(onNode); ok && windows(o.Labels) {
			f(o)
		}
	case *appsv1.DaemonSet:
		if f, ok := edit.(onSet); ok && windows(o.Spec.Template.Spec.NodeSelector) {
			f(o)
		}
	case *corev1.Pod:
		if f, ok := edit.(onPod); ok {
			f(o)
		}
	case *corev1.ConfigMap:
		if f, ok := edit.(func(*corev1.ConfigMap)); ok {
			f(o)
		}
	case *storagev1.CSINode:
		if f, ok := edit.(func(*storagev1.CSINode)); ok && strings.HasPrefix(o.Name, "win") {
			f(o)
		}
	case *corev1.PersistentVolume:
		if f, ok := edit.(func(*corev1.PersistentVolume)); ok {
			f(o)
		}
	case fields:
		if f, ok := edit.(func(fields)); ok {
			f(o)
		}
		if f, ok := edit.(onVersion); ok && o["kind"] == "ClusterVersion" {
			f(o["status"].(fields))
		}
		if f, ok := edit.(onPool); ok && o["kind"] == "MachineConfigPool" && o["metadata"].(fields)["name"] == "worker" {
			f(o)
		}
	}
}
