package states

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// What controllers, scheduler, kubelets and WMCO do is played here: nothing runs
// beside the API server. It is played whenever oc is called, and not in between.

// revision is the label that a DaemonSet's controller gives its pods.
const revision = "controller-revision-hash"

// settle brings pods, statuses and CSINodes to what the DaemonSets say.
func (s *server) settle(ctx context.Context) error {
	list, err := s.typed.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	nodes, err := s.typed.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "kubernetes.io/os=windows"})
	if err != nil {
		return err
	}
	registered := map[string][]string{}
	for i := range list.Items {
		ds := &list.Items[i]
		if ds.Spec.Template.Spec.NodeSelector["kubernetes.io/os"] == "linux" {
			continue
		}
		if err := s.settleSet(ctx, ds, nodes.Items, registered); err != nil {
			return err
		}
	}
	if err := s.endOrphans(ctx, list.Items); err != nil {
		return err
	}
	return s.register(ctx, registered)
}

// settleSet makes the pods of one DaemonSet.
func (s *server) settleSet(ctx context.Context, ds *appsv1.DaemonSet, nodes []corev1.Node, registered map[string][]string) error {
	hash, err := s.revise(ctx, ds)
	if err != nil {
		return err
	}
	want := appsv1.DaemonSetStatus{ObservedGeneration: ds.Generation}
	for i := range nodes {
		n := &nodes[i]
		if !selects(ds.Spec.Template.Spec.NodeSelector, n.Labels) || !toleratesAll(ds.Spec.Template.Spec.Tolerations, n.Spec.Taints) {
			continue
		}
		want.DesiredNumberScheduled++
		if !s.starts(ds, n) {
			continue
		}
		newest, err := s.pod(ctx, ds, n, hash)
		if apierrors.IsForbidden(err) {
			continue // Pod Security refuses it
		}
		if err != nil {
			return err
		}
		want.CurrentNumberScheduled++
		want.NumberReady++
		want.NumberAvailable++
		if newest {
			want.UpdatedNumberScheduled++
		}
		registered[n.Name] = append(registered[n.Name], provisionerOf(&ds.Spec.Template.Spec))
	}
	want.NumberUnavailable = want.DesiredNumberScheduled - want.NumberAvailable
	want.CurrentNumberScheduled = max(want.CurrentNumberScheduled, want.DesiredNumberScheduled)
	if fmt.Sprint(want) == fmt.Sprint(ds.Status) {
		return nil
	}
	ds.Status = want
	_, err = s.typed.AppsV1().DaemonSets(ds.Namespace).UpdateStatus(ctx, ds, metav1.UpdateOptions{})
	return err
}

// starts tells whether a pod of a DaemonSet gets ready on a node. The state says
// so of its own DaemonSets, as long as they are as they were; any other starts.
func (s *server) starts(ds *appsv1.DaemonSet, n *corev1.Node) bool {
	c := s.state.cluster
	node := slices.IndexFunc(c.nodes, func(x node) bool { return x.name == n.Name })
	if node < 0 || c.nodes[node].down {
		return false
	}
	for i := range c.drivers {
		d := &c.drivers[i]
		if d.name == ds.Name && d.namespace == ds.Namespace && ds.Spec.Template.Spec.Containers[len(ds.Spec.Template.Spec.Containers)-1].Image == d.image && sameArgs(ds, d) {
			return slices.Contains(c.readyOn(d), node)
		}
	}
	return true
}

// sameArgs tells whether a DaemonSet is the state's still: nobody changed how its
// driver is called, nor its mode, nor what it mounts.
func sameArgs(ds *appsv1.DaemonSet, d *driver) bool {
	spec, was := &ds.Spec.Template.Spec, d.template().Spec
	main := spec.Containers[len(spec.Containers)-1]
	return fmt.Sprint(main.Args) == fmt.Sprint(d.args) && fmt.Sprint(spec.NodeSelector) == fmt.Sprint(was.NodeSelector) && spec.HostNetwork == was.HostNetwork && len(spec.Volumes) == len(was.Volumes) &&
		spec.Containers[0].Image == was.Containers[0].Image
}

func toleratesAll(list []corev1.Toleration, taints []corev1.Taint) bool {
	for _, t := range taints {
		if !slices.ContainsFunc(list, func(o corev1.Toleration) bool {
			return (o.Key == "" || o.Key == t.Key) && (o.Operator == corev1.TolerationOpExists || o.Value == t.Value)
		}) {
			return false
		}
	}
	return true
}

// revise makes the ControllerRevision of a DaemonSet's present template.
func (s *server) revise(ctx context.Context, ds *appsv1.DaemonSet) (string, error) {
	text, err := json.Marshal(ds.Spec.Template)
	if err != nil {
		return "", err
	}
	hash := digest(string(text))[:10]
	revisions := s.typed.AppsV1().ControllerRevisions(ds.Namespace)
	list, err := revisions.List(ctx, metav1.ListOptions{})
	if err != nil {
		return "", err
	}
	last := int64(0)
	for i := range list.Items {
		r := &list.Items[i]
		if r.Labels["of"] != ds.Name {
			continue
		}
		last = max(last, r.Revision)
	}
	at := slices.IndexFunc(list.Items, func(r appsv1.ControllerRevision) bool { return r.Name == ds.Name+"-"+hash })
	if at >= 0 && list.Items[at].Revision == last {
		return hash, nil
	}
	if at >= 0 {
		list.Items[at].Revision = last + 1
		_, err = revisions.Update(ctx, &list.Items[at], metav1.UpdateOptions{})
		return hash, err
	}
	labels := map[string]string{revision: hash, "of": ds.Name}
	for k, v := range ds.Spec.Selector.MatchLabels {
		labels[k] = v
	}
	r := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: ds.Namespace, Name: ds.Name + "-" + hash, Labels: labels}, Revision: last + 1, Data: runtime.RawExtension{Raw: []byte(`{}`)}}
	_, err = revisions.Create(ctx, r, metav1.CreateOptions{})
	return hash, err
}

// pod sees to it that a DaemonSet has a pod on a node, and tells whether it is of
// the newest revision. With OnDelete an old one stays.
func (s *server) pod(ctx context.Context, ds *appsv1.DaemonSet, n *corev1.Node, hash string) (bool, error) {
	pods := s.typed.CoreV1().Pods(ds.Namespace)
	list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + n.Name})
	if err != nil {
		return false, err
	}
	for i := range list.Items {
		p := &list.Items[i]
		owner := metav1.GetControllerOf(p)
		if owner == nil || owner.Kind != "DaemonSet" || owner.Name != ds.Name {
			continue
		}
		if p.Labels[revision] == "" {
			// The state's own: of the present revision, unless it has an old image.
			p.Labels[revision] = hash
			if p.Spec.Containers[len(p.Spec.Containers)-1].Image != ds.Spec.Template.Spec.Containers[len(ds.Spec.Template.Spec.Containers)-1].Image {
				p.Labels[revision] = "older"
			}
			if p, err = pods.Update(ctx, p, metav1.UpdateOptions{}); err != nil {
				return false, err
			}
		}
		if p.Labels[revision] == hash || ds.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType {
			return p.Labels[revision] == hash, nil
		}
		now := int64(0)
		if err := pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			return false, err
		}
	}
	return true, s.newPod(ctx, ds, n, hash)
}

func (s *server) newPod(ctx context.Context, ds *appsv1.DaemonSet, n *corev1.Node, hash string) error {
	t := ds.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: t.ObjectMeta, Spec: t.Spec}
	pod.Namespace, pod.Name, pod.Spec.NodeName = ds.Namespace, ds.Name+"-"+hash+"-"+n.Name, n.Name
	pod.Labels[revision] = hash
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))}
	pod, err := s.typed.CoreV1().Pods(ds.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	for _, c := range pod.Spec.Containers {
		repository, _, _ := strings.Cut(c.Image, "@")
		if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
			repository = repository[:colon]
		}
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: repository + "@sha256:" + digest(c.Image), Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		})
	}
	_, err = s.typed.CoreV1().Pods(ds.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

// endOrphans ends the pods of DaemonSets that are gone.
func (s *server) endOrphans(ctx context.Context, sets []appsv1.DaemonSet) error {
	list, err := s.typed.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for i := range list.Items {
		p := &list.Items[i]
		owner := metav1.GetControllerOf(p)
		if owner == nil || slices.ContainsFunc(sets, func(d appsv1.DaemonSet) bool { return d.Name == owner.Name && d.Namespace == p.Namespace }) {
			continue
		}
		now := int64(0)
		if err := s.typed.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			return err
		}
	}
	return nil
}

// register lists the drivers in the CSINodes.
func (s *server) register(ctx context.Context, registered map[string][]string) error {
	for _, n := range s.state.cluster.nodes {
		node, err := s.typed.StorageV1().CSINodes().Get(ctx, n.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var want []storagev1.CSINodeDriver
		for _, p := range slices.Compact(slices.Sorted(slices.Values(registered[n.name]))) {
			at := slices.IndexFunc(node.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == p })
			switch {
			case at >= 0: // an entry can't be changed
				want = append(want, node.Spec.Drivers[at])
			case p != "":
				want = append(want, storagev1.CSINodeDriver{Name: p, NodeID: "id-of-" + n.name, TopologyKeys: n.topology})
			}
		}
		have := slices.Clone(node.Spec.Drivers)
		slices.SortFunc(have, func(a, b storagev1.CSINodeDriver) int { return cmp.Compare(a.Name, b.Name) })
		if fmt.Sprint(have) == fmt.Sprint(want) {
			continue
		}
		node.Spec.Drivers = append([]storagev1.CSINodeDriver{}, want...)
		if _, err := s.typed.StorageV1().CSINodes().Update(ctx, node, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// provisionerOf is the driver that a pod registers, "" for none.
func provisionerOf(spec *corev1.PodSpec) string {
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
