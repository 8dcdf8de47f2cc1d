package walkthrough

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/winbake/winbake/test/support/await"
)

// generation is the annotation that says of which template a pod was made.
const generation = "test/generation"

// play plays controllers, scheduler and kubelets until the test ends.
func (c *cluster) play(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			err := c.turn(ctx)
			if err == nil {
				c.turns.Add(1)
			}
			if err != nil && ctx.Err() == nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
				t.Logf("the played cluster: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
}

// settle waits until all that is due was done.
func (c *cluster) settle(t *testing.T) {
	t.Helper()
	want := c.turns.Load() + 2 // the one that is under way began before
	await.True(t, "two turns of the played cluster", func() bool { return c.turns.Load() >= want })
}

// turn does all that is due.
func (c *cluster) turn(ctx context.Context) error {
	for _, step := range []func(context.Context) error{c.claims, c.daemonSets, c.deployments, c.orphans, c.registrations, c.namespaces} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// daemonSets makes pods, has their drivers registered, and only then calls the
// pods ready: who waits for a DaemonSet asks for the drivers next.
func (c *cluster) daemonSets(ctx context.Context) error {
	list, err := c.typed.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	list.Items = slices.DeleteFunc(list.Items, func(ds appsv1.DaemonSet) bool {
		return ds.Spec.Template.Spec.NodeSelector[corev1.LabelOSStable] != "windows"
	})
	ready := make([]int32, len(list.Items))
	for i, ds := range list.Items {
		owner := metav1.NewControllerRef(&ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
		for _, node := range nodes {
			if err := c.pod(ctx, owner, ds.ObjectMeta, ds.Spec.Template, ds.Name+"-"+node, node); err == nil {
				ready[i]++
			} else if !apierrors.IsForbidden(err) {
				return err
			}
		}
	}
	if err := c.registrations(ctx); err != nil {
		return err
	}
	for i, ds := range list.Items {
		want := appsv1.DaemonSetStatus{
			ObservedGeneration: ds.Generation, DesiredNumberScheduled: int32(len(nodes)), CurrentNumberScheduled: ready[i],
			UpdatedNumberScheduled: ready[i], NumberReady: ready[i], NumberAvailable: ready[i], NumberUnavailable: int32(len(nodes)) - ready[i],
		}
		if fmt.Sprint(want) != fmt.Sprint(ds.Status) {
			ds.Status = want
			if _, err := c.typed.AppsV1().DaemonSets(ds.Namespace).UpdateStatus(ctx, &ds, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *cluster) deployments(ctx context.Context) error {
	list, err := c.typed.AppsV1().Deployments("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		d := &list.Items[i]
		if *d.Spec.Replicas == 0 {
			continue // orphans ends its pods
		}
		owner := metav1.NewControllerRef(d, appsv1.SchemeGroupVersion.WithKind("Deployment"))
		if err := c.pod(ctx, owner, d.ObjectMeta, d.Spec.Template, d.Name+"-0", nodes[0]); err != nil {
			return err
		}
		if bound, err := c.bound(ctx, d); err != nil {
			return err
		} else if !bound {
			continue
		}
		want := appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}}
		if d.Status.ObservedGeneration != want.ObservedGeneration || d.Status.AvailableReplicas != 1 {
			d.Status = want
			if _, err := c.typed.AppsV1().Deployments(d.Namespace).UpdateStatus(ctx, d, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// bound tells whether a Deployment's claims have volumes, without which its pods
// don't get ready.
func (c *cluster) bound(ctx context.Context, d *appsv1.Deployment) (bool, error) {
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim, err := c.typed.CoreV1().PersistentVolumeClaims(d.Namespace).Get(ctx, v.PersistentVolumeClaim.ClaimName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && claim.Spec.VolumeName == "" {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// pod sees to it that a pod of the present template runs on a node. What the
// server's admission says of it is the error.
func (c *cluster) pod(ctx context.Context, owner *metav1.OwnerReference, of metav1.ObjectMeta, template corev1.PodTemplateSpec, name, node string) error {
	pods := c.typed.CoreV1().Pods(of.Namespace)
	pod, err := pods.Get(ctx, name, metav1.GetOptions{})
	made := fmt.Sprint(of.UID, of.Generation)
	if err == nil && pod.Annotations[generation] != made {
		if err := c.kill(ctx, pod); err != nil {
			return err
		}
		err = apierrors.NewNotFound(corev1.Resource("pods"), name)
	}
	if apierrors.IsNotFound(err) {
		pod = &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
		pod.Name, pod.OwnerReferences, pod.Spec.NodeName = name, []metav1.OwnerReference{*owner}, node
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[generation] = made
		pod, err = pods.Create(ctx, pod, metav1.CreateOptions{})
	}
	if err != nil || pod.Status.Phase == corev1.PodRunning {
		return err
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: container.Name, Image: container.Image, Ready: true, ImageID: container.Image, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
	}
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

func (c *cluster) kill(ctx context.Context, pod *corev1.Pod) error {
	now := int64(0)
	return c.typed.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
}

// orphans ends pods that are to end, and those whose owner is gone.
func (c *cluster) orphans(ctx context.Context) error {
	list, err := c.typed.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		pod := &list.Items[i]
		gone := pod.DeletionTimestamp != nil
		if owner := metav1.GetControllerOf(pod); owner != nil && !gone {
			gone = c.orphan(ctx, pod.Namespace, owner)
		}
		if gone {
			if err := c.kill(ctx, pod); err != nil {
				return err
			}
		}
	}
	return nil
}

// orphan tells whether a pod's owner is gone, or wants no pods.
func (c *cluster) orphan(ctx context.Context, namespace string, owner *metav1.OwnerReference) bool {
	if owner.Kind == "DaemonSet" {
		d, err := c.typed.AppsV1().DaemonSets(namespace).Get(ctx, owner.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && d.UID != owner.UID
	}
	d, err := c.typed.AppsV1().Deployments(namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && (d.UID != owner.UID || *d.Spec.Replicas == 0)
}

// claims binds each claim of a known class to a volume of its own.
func (c *cluster) claims(ctx context.Context) error {
	list, err := c.typed.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		claim := &list.Items[i]
		if claim.DeletionTimestamp != nil {
			if err := c.release(ctx, claim.Spec.VolumeName); err != nil {
				return err
			}
			claim.Finalizers = nil
			if _, err := c.typed.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
				return err
			}
			continue
		}
		if claim.Spec.VolumeName != "" || claim.Spec.StorageClassName == nil {
			continue
		}
		class, err := c.typed.StorageV1().StorageClasses().Get(ctx, *claim.Spec.StorageClassName, metav1.GetOptions{})
		if err != nil {
			continue // there is none yet
		}
		if there, err := c.hasSecret(ctx, class); err != nil {
			return err
		} else if !there {
			continue // the provisioner can't ask for a volume
		}
		if err := c.bind(ctx, claim, class); err != nil {
			return err
		}
	}
	return nil
}

// hasSecret tells whether the Secret that a class has its provisioner use is there,
// or it names none.
func (c *cluster) hasSecret(ctx context.Context, class *storagev1.StorageClass) (bool, error) {
	const prefix = "csi.storage.k8s.io/provisioner-secret-"
	name := class.Parameters[prefix+"name"]
	if name == "" {
		return true, nil
	}
	_, err := c.typed.CoreV1().Secrets(class.Parameters[prefix+"namespace"]).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// release does to a volume what its reclaim policy says, as its claim goes. The
// provisioner does without a Secret that's gone, and SMB's driver then leaves the
// volume's folder on the share.
func (c *cluster) release(ctx context.Context, name string) error {
	volumes := c.typed.CoreV1().PersistentVolumes()
	pv, err := volumes.Get(ctx, name, metav1.GetOptions{})
	if name == "" || apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRetain {
		pv.Status.Phase = corev1.VolumeReleased
		_, err = volumes.UpdateStatus(ctx, pv, metav1.UpdateOptions{})
		return err
	}
	if class, err := c.typed.StorageV1().StorageClasses().Get(ctx, pv.Spec.StorageClassName, metav1.GetOptions{}); err == nil {
		if there, err := c.hasSecret(ctx, class); err != nil {
			return err
		} else if !there {
			c.left.Store(pv.Spec.ClaimRef.Name, true)
		}
	}
	if pv.Finalizers != nil {
		pv.Finalizers = nil
		if _, err := volumes.Update(ctx, pv, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return volumes.Delete(ctx, name, metav1.DeleteOptions{})
}

func (c *cluster) bind(ctx context.Context, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass) error {
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(claim.UID), Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": class.Provisioner}},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: claim.Spec.AccessModes, StorageClassName: class.Name, Capacity: claim.Spec.Resources.Requests,
			ClaimRef:                      &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID},
			PersistentVolumeSource:        corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: class.Provisioner, VolumeHandle: string(claim.UID), FSType: class.Parameters["csi.storage.k8s.io/fstype"]}},
			PersistentVolumeReclaimPolicy: *class.ReclaimPolicy,
		},
	}
	pv, err := c.typed.CoreV1().PersistentVolumes().Create(ctx, pv, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pv.Status.Phase = corev1.VolumeBound
	if _, err := c.typed.CoreV1().PersistentVolumes().UpdateStatus(ctx, pv, metav1.UpdateOptions{}); err != nil {
		return err
	}
	claim.Spec.VolumeName = pv.Name
	if claim, err = c.typed.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{}); err != nil {
		return err
	}
	claim.Status.Phase, claim.Status.Capacity, claim.Status.AccessModes = corev1.ClaimBound, pv.Spec.Capacity, pv.Spec.AccessModes
	_, err = c.typed.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, claim, metav1.UpdateOptions{})
	return err
}

// registrations lists in each CSINode the drivers whose pods run on the node.
func (c *cluster) registrations(ctx context.Context) error {
	list, err := c.typed.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, name := range nodes {
		var want []string
		for _, pod := range list.Items {
			if p := provisioner(&pod.Spec); p != "" && pod.Spec.NodeName == name && !slices.Contains(want, p) {
				want = append(want, p)
			}
		}
		slices.Sort(want)
		n, err := c.typed.StorageV1().CSINodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var have []string
		for _, d := range n.Spec.Drivers {
			have = append(have, d.Name)
		}
		if slices.Equal(have, want) {
			continue
		}
		n.Spec.Drivers = []storagev1.CSINodeDriver{}
		for _, p := range want {
			n.Spec.Drivers = append(n.Spec.Drivers, storagev1.CSINodeDriver{Name: p, NodeID: name, TopologyKeys: []string{}})
		}
		if _, err := c.typed.StorageV1().CSINodes().Update(ctx, n, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// provisioner is the driver that a pod registers with the kubelet, "" for none.
func provisioner(spec *corev1.PodSpec) string {
	for _, c := range spec.Containers {
		texts := slices.Clone(c.Args)
		for _, e := range c.Env {
			texts = append(texts, e.Value)
		}
		for _, text := range texts {
			flat := strings.ReplaceAll(strings.ReplaceAll(text, `\\`, `\`), `\`, "/")
			if _, rest, ok := strings.Cut(flat, "/kubelet/plugins/"); ok {
				if p, _, ok := strings.Cut(rest, "/csi.sock"); ok {
					return p
				}
			}
		}
	}
	return ""
}

// namespaces ends what is to end: its content first.
func (c *cluster) namespaces(ctx context.Context) error {
	list, err := c.typed.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		ns := &list.Items[i]
		if ns.DeletionTimestamp == nil || len(ns.Spec.Finalizers) == 0 {
			continue
		}
		all := metav1.ListOptions{}
		for _, remove := range []func() error{
			func() error {
				return c.typed.AppsV1().Deployments(ns.Name).DeleteCollection(ctx, metav1.DeleteOptions{}, all)
			},
			func() error { return c.typed.CoreV1().Pods(ns.Name).DeleteCollection(ctx, metav1.DeleteOptions{}, all) },
			func() error {
				return c.typed.CoreV1().PersistentVolumeClaims(ns.Name).DeleteCollection(ctx, metav1.DeleteOptions{}, all)
			},
			func() error {
				return c.typed.CoreV1().Secrets(ns.Name).DeleteCollection(ctx, metav1.DeleteOptions{}, all)
			},
		} {
			if err := remove(); err != nil {
				return err
			}
		}
		left, err := c.typed.CoreV1().Pods(ns.Name).List(ctx, all)
		if err != nil || len(left.Items) > 0 {
			return err
		}
		ns.Spec.Finalizers = nil
		if _, err := c.typed.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}
