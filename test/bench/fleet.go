package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	sigs "sigs.k8s.io/yaml"

	"github.com/winbake/winbake/test/support/kubeclient"
)

const (
	podsPerNode    = 10 // one of them is the driver's
	volumesPerNode = 2
	namespaces     = 50
	windowsEach    = 10 // every tenth node runs Windows
	imagesPerNode  = 50 // what a kubelet reports at most
	driverName     = "csi.vsphere.vmware.com"
	driverSpace    = "openshift-cluster-csi-drivers"
)

// fleet counts what a cluster has.
type fleet struct{ nodes, windows, pods, volumes int }

// loader makes a fleet on an API server.
type loader struct {
	fleet
	client         *kubeclient.Set
	linux, windows *appsv1.DaemonSet
}

// newLoader creates what there is once: namespaces and the driver's DaemonSets.
// The Windows one is the example's.
func newLoader(ctx context.Context, config *rest.Config) (*loader, error) {
	config = rest.CopyConfig(config)
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubeclient.New(config)
	if err != nil {
		return nil, err
	}
	l := &loader{client: client}
	src, err := os.ReadFile("examples/cluster-4.19-vsphere/driver.yaml")
	if err != nil {
		return nil, err
	}
	windows := &appsv1.DaemonSet{}
	if err := sigs.UnmarshalStrict(src, windows); err != nil {
		return nil, err
	}
	names := []string{driverSpace}
	for i := range namespaces {
		names = append(names, space(i))
	}
	for _, name := range names {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return nil, err
		}
	}
	if l.windows, err = client.AppsV1().DaemonSets(driverSpace).Create(ctx, windows, metav1.CreateOptions{}); err != nil {
		return nil, err
	}
	l.linux, err = client.AppsV1().DaemonSets(driverSpace).Create(ctx, linuxDriver(windows), metav1.CreateOptions{})
	return l, err
}

// linuxDriver is the release's own driver.
func linuxDriver(windows *appsv1.DaemonSet) *appsv1.DaemonSet {
	d := windows.DeepCopy()
	d.Name = "vmware-vsphere-csi-driver-node"
	d.Spec.Selector.MatchLabels = map[string]string{"app": d.Name}
	d.Spec.Template.Labels = map[string]string{"app": d.Name}
	spec := &d.Spec.Template.Spec
	spec.NodeSelector = map[string]string{corev1.LabelOSStable: "linux"}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		c.Image = fmt.Sprintf("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:%064d", i)
		c.VolumeMounts = nil
		for j := range c.Env {
			c.Env[j].Value = strings.ReplaceAll(strings.TrimPrefix(c.Env[j].Value, `C:`), `\`, "/")
		}
	}
	spec.Volumes = nil
	return d
}

func space(i int) string { return fmt.Sprintf("team-%02d", i%namespaces) }

// grow adds nodes and what is on them until there are that many.
func (l *loader) grow(ctx context.Context, nodes int) error {
	g, ctx := errgroup.WithContext(ctx)
	const atOnce = 16
	g.SetLimit(atOnce)
	for i := l.nodes; i < nodes; i++ {
		g.Go(func() error { return l.node(ctx, i) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	l.fleet = fleet{nodes, (nodes + windowsEach - 1) / windowsEach, nodes * podsPerNode, nodes * volumesPerNode}
	return nil
}

// node creates one node and what is on it.
func (l *loader) node(ctx context.Context, i int) error {
	name, set, node := fmt.Sprintf("worker-%d", i), l.linux, linuxNode()
	if i%windowsEach == 0 {
		name, set, node = fmt.Sprintf("winworker-%d", i), l.windows, windowsNode()
	}
	node.Name = name
	if _, err := l.client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{}); err != nil {
		return err
	}
	csi := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: driverName, NodeID: name}},
	}}
	if _, err := l.client.StorageV1().CSINodes().Create(ctx, csi, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := l.driverPod(ctx, set, name); err != nil {
		return err
	}
	for j := range podsPerNode - 1 {
		if err := l.pod(ctx, space(i), fmt.Sprintf("app-%d-%d", i, j), node, j < volumesPerNode); err != nil {
			return err
		}
	}
	return nil
}

// driverPod creates what the DaemonSet controller would, and says what it runs
// as the kubelet would.
func (l *loader) driverPod(ctx context.Context, set *appsv1.DaemonSet, node string) error {
	owner := metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: set.Name + "-" + node, Labels: set.Spec.Template.Labels, OwnerReferences: []metav1.OwnerReference{*owner}},
		Spec:       *set.Spec.Template.Spec.DeepCopy(),
	}
	pod.Spec.NodeName = node
	pods := l.client.CoreV1().Pods(driverSpace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	made.Status.Phase = corev1.PodRunning
	for i, c := range pod.Spec.Containers {
		made.Status.ContainerStatuses = append(made.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: fmt.Sprintf("registry.k8s.io/csi-vsphere/driver@sha256:%064d", i), Ready: true,
		})
	}
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// pod creates a pod of an application, and the volume that it may have.
func (l *loader) pod(ctx context.Context, namespace, name string, node *corev1.Node, stores bool) error {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name, "team": namespace}},
		Spec: corev1.PodSpec{
			NodeName: node.Name, NodeSelector: map[string]string{corev1.LabelOSStable: node.Labels[corev1.LabelOSStable]},
			Containers: []corev1.Container{{
				Name: "app", Image: "registry.example.com/team/app:v1.0.0", Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "2"}},
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("50Mi")}},
			}},
		},
	}
	if stores {
		if err := l.volume(ctx, namespace, name); err != nil {
			return err
		}
		pod.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}}}
	}
	_, err := l.client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// volume creates a PersistentVolume and the claim that it is bound to.
func (l *loader) volume(ctx context.Context, namespace, name string) error {
	class := "thin-csi"
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + name}, Spec: corev1.PersistentVolumeSpec{
		AccessModes: modes, Capacity: size, StorageClassName: class,
		ClaimRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: namespace, Name: name},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
			Driver: driverName, VolumeHandle: name, FSType: "ntfs", VolumeAttributes: map[string]string{"type": "vSphere CNS Block Volume"},
		}},
	}}
	if _, err := l.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
		return err
	}
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"volume.kubernetes.io/storage-provisioner": driverName}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &class, VolumeName: volume.Name, Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	}
	_, err := l.client.CoreV1().PersistentVolumeClaims(namespace).Create(ctx, claim, metav1.CreateOptions{})
	return err
}

func linuxNode() *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
		corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64", "node-role.kubernetes.io/worker": "",
	}}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{OperatingSystem: "linux", KubeletVersion: "v1.32.9+5d1f8d5", OSImage: "Red Hat Enterprise Linux CoreOS", KernelVersion: "5.14.0"}
	images(n)
	return n
}

func windowsNode() *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Labels: map[string]string{corev1.LabelOSStable: "windows", corev1.LabelArchStable: "amd64"},
		Annotations: map[string]string{
			"windowsmachineconfig.openshift.io/version":         "10.19.1-1a2b3c4",
			"windowsmachineconfig.openshift.io/desired-version": "10.19.1-1a2b3c4",
		},
	}}
	n.Spec.Taints = []corev1.Taint{{Key: "os", Value: "Windows", Effect: corev1.TaintEffectNoSchedule}}
	n.Status.NodeInfo = corev1.NodeSystemInfo{
		OperatingSystem: "windows", KubeletVersion: "v1.32.9+5d1f8d5", OSImage: "Windows Server 2022 Datacenter", KernelVersion: "10.0.20348.3453",
	}
	images(n)
	return n
}

// images fills a node's status as a kubelet does; it is most of a node.
func images(n *corev1.Node) {
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
	for i := range imagesPerNode {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{
			Names: []string{fmt.Sprintf("registry.example.com/team/image-%d@sha256:%064d", i, i), fmt.Sprintf("registry.example.com/team/image-%d:v1.0.0", i)}, SizeBytes: 1 << 27,
		})
	}
}
