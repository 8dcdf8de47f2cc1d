package states

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// What an update of OpenShift does is played too: the control plane has the
// release at once, and WMCO follows with the nodes where it is installed.

var (
	versions      = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}
	subscriptions = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "subscriptions"}
	csvs          = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}
	pools         = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}
)

// play answers a call of oc.
func (s *server) play(ctx context.Context, args []string) answerOfPlay {
	a, err := s.answer(ctx, args)
	if err == nil {
		err = s.settle(ctx)
	}
	if err != nil {
		return answerOfPlay{Out: "error: " + err.Error() + "\n", Exit: 1}
	}
	if !a.Kubectl {
		s.played["oc "+strings.Join(args[:min(2, len(args))], " ")]++
	}
	return a
}

func (s *server) answer(ctx context.Context, args []string) (answerOfPlay, error) {
	switch {
	case has(args, "adm", "node-logs"), has(args, "logs"):
		return answerOfPlay{}, nil // no kubelet has any
	case has(args, "adm", "upgrade", "channel"):
		return answerOfPlay{}, s.patch(ctx, versions, "", "version", fields{"spec": fields{"channel": args[len(args)-1]}})
	case has(args, "adm", "upgrade"):
		if s.refusing && slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--to") }) {
			return answerOfPlay{Out: "error: " + refused + "\n", Exit: 1}, nil
		}
		return s.upgrade(ctx, args)
	case has(args, nextOffered):
		now, history, err := s.history(ctx)
		if err != nil {
			return answerOfPlay{}, err
		}
		next := s.next(now, history)
		return answerOfPlay{Out: next + "\n"}, nil
	case has(args, "adm", "policy", "add-scc-to-user"), has(args, "adm", "policy", "remove-scc-from-user"):
		return answerOfPlay{}, s.bindSCC(ctx, args)
	case has(args, "rollout", "status"):
		if err := s.settle(ctx); err != nil {
			return answerOfPlay{}, err
		}
		if stuck, err := s.stuck(ctx, args); err != nil || stuck {
			return answerOfPlay{Out: "error: timed out waiting for the condition\n", Exit: 1}, err
		}
	case has(args, "delete") && strings.Contains(strings.Join(args, " "), " pod"):
		// No kubelet ends it.
		return answerOfPlay{Kubectl: true, More: []string{"--force", "--grace-period=0"}}, nil
	case has(args, "wait") && (strings.Contains(strings.Join(args, " "), "node/") || strings.Contains(strings.Join(args, " "), "machineconfigpool/")):
		return answerOfPlay{Out: "condition met\n"}, nil
	case has(args, "get") && strings.Contains(strings.Join(args, " "), "installplans"):
		// What the admin approves here, OLM installs.
		s.follows = true
	case has(args, "create") || has(args, "apply"):
		s.follows = s.follows || slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "subscription") })
	}
	return answerOfPlay{Kubectl: true}, s.follow(ctx)
}

func (s *server) patch(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string, patch fields) error {
	_, err := s.any.Resource(gvr).Namespace(namespace).Patch(ctx, name, types.MergePatchType, jsonOf(patch), metav1.PatchOptions{})
	return err
}

// nextOffered is what the person at the script answers where a release is asked for:
// the next minor's that is offered.
const nextOffered = "next"

// upgrade is `oc adm upgrade`: alone it tells, with --to it updates.
func (s *server) upgrade(ctx context.Context, args []string) (answerOfPlay, error) {
	to := ""
	for i, a := range args {
		if v, ok := strings.CutPrefix(a, "--to="); ok {
			to = v
		} else if a == "--to" && i+1 < len(args) {
			to = args[i+1]
		}
	}
	o, err := s.any.Resource(versions).Get(ctx, "version", metav1.GetOptions{})
	if err != nil {
		return answerOfPlay{}, err
	}
	now, history, err := s.history(ctx)
	if err != nil {
		return answerOfPlay{}, err
	}
	if to == nextOffered {
		if to = s.next(now, history); to == "" {
			return answerOfPlay{Out: "error: no release is offered\n", Exit: 1}, nil
		}
	}
	if to == "" {
		return answerOfPlay{Out: "Cluster version is " + now + "\n"}, nil
	}
	if strings.Count(to, ".") < 2 {
		return answerOfPlay{Out: "error: " + to + " is no version of a release\n", Exit: 1}, nil
	}
	if slices.Contains(s.state.cluster.risky, to) && !slices.Contains(args, "--allow-not-recommended") {
		return answerOfPlay{Out: "error: the update " + to + " is not one of the recommended updates, but is available as a conditional update\n", Exit: 1}, nil
	}
	if why := s.refuses(ctx, o, now, to); why != "" {
		return answerOfPlay{Out: "error: " + why + "\n", Exit: 1}, nil
	}
	done := fields{"version": to, "state": "Completed", "image": "quay.io/openshift-release-dev/ocp-release@sha256:" + digest(to), "verified": true, "startedTime": "2026-11-20T08:00:00Z", "completionTime": "2026-11-20T09:00:00Z"}
	s.version = since[minor(to)].kubelet
	if now != to {
		history = append([]any{done}, history...)
	}
	if err := s.patch(ctx, versions, "", "version", fields{"status": fields{"history": history, "desired": fields{"version": to}, "availableUpdates": []any{}}}); err != nil {
		return answerOfPlay{}, err
	}
	s.release, s.follows = to, true
	if d := s.state.brings; d != nil && minor(to) == minor(s.state.to) {
		if _, err := s.typed.AppsV1().DaemonSets(d.namespace).Create(ctx, s.state.cluster.daemonSet(d), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return answerOfPlay{}, err
		}
	}
	return answerOfPlay{Out: "Requested update to " + to + "\n"}, s.follow(ctx)
}

// history is that of the cluster's updates, and the release that it is at.
func (s *server) history(ctx context.Context) (now string, history []any, err error) {
	o, err := s.any.Resource(versions).Get(ctx, "version", metav1.GetOptions{})
	if err != nil {
		return "", nil, err
	}
	if history, _, err = unstructured.NestedSlice(o.Object, "status", "history"); err == nil {
		now, _, err = unstructured.NestedString(history[0].(fields), "version")
	}
	return now, history, err
}

// next is the next minor's release that is offered; "" for none.
func (s *server) next(now string, history []any) string {
	later := slices.IndexFunc(s.state.cluster.offered, func(v string) bool {
		return minor(v) != minor(now) && !slices.ContainsFunc(history, func(h any) bool { return h.(fields)["version"] == v })
	})
	if later < 0 {
		return ""
	}
	return s.state.cluster.offered[later]
}

// refused is what oc says where the server is refusing.
const refused = "the update is refused in this run"

// refuses is why the cluster version operator doesn't start an update: Upgradeable
// is False for a minor one, and no acknowledgement is what it waits for.
func (s *server) refuses(ctx context.Context, o *unstructured.Unstructured, now, to string) string {
	if minor(now) == minor(to) {
		return ""
	}
	acks, err := s.typed.CoreV1().ConfigMaps("openshift-config").Get(ctx, "admin-acks", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	gates, err := s.typed.CoreV1().ConfigMaps("openshift-config-managed").Get(ctx, "admin-gates", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	for gate := range gates.Data {
		if strings.HasPrefix(gate, "ack-"+minor(now)+"-") && acks.Data[gate] != "true" {
			return "Upgradeable=False: " + gate + " isn't acknowledged"
		}
	}
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		c := c.(fields)
		if c["type"] == "Upgradeable" && c["status"] == "False" && c["reason"] != "AdminAckRequired" {
			return fmt.Sprint("Upgradeable=False: ", c["message"])
		}
	}
	return ""
}

// stuck tells whether a DaemonSet that is waited for has pods that won't get ready:
// the wait is half an hour long.
func (s *server) stuck(ctx context.Context, args []string) (bool, error) {
	list, err := s.typed.AppsV1().DaemonSets("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return false, err
	}
	words := " " + strings.Join(args, " ") + " "
	for i := range list.Items {
		d := &list.Items[i]
		if strings.Contains(words, "daemonset/"+d.Name+" ") && strings.Contains(words, " "+d.Namespace+" ") && d.Status.NumberReady < d.Status.DesiredNumberScheduled {
			return true, nil
		}
	}
	return false, nil
}

// bindSCC is what oc adm policy makes: a RoleBinding.
func (s *server) bindSCC(ctx context.Context, args []string) error {
	namespace, account := "", ""
	for i, a := range args[:len(args)-1] {
		switch a {
		case "-n":
			namespace = args[i+1]
		case "-z":
			account = args[i+1]
		}
	}
	const name = "system:openshift:scc:privileged"
	bindings := s.typed.RbacV1().RoleBindings(namespace)
	if has(args, "adm", "policy", "remove-scc-from-user") {
		return bindings.Delete(ctx, name, metav1.DeleteOptions{})
	}
	_, err := bindings.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: namespace}},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// follow is what OLM and WMCO do for the release of the control plane: nothing
// without a Subscription. The pools' machines follow unless they are paused.
func (s *server) follow(ctx context.Context) error {
	if !s.follows {
		return nil
	}
	if err := s.settlePools(ctx); err != nil {
		return err
	}
	if _, err := s.any.Resource(subscriptions).Namespace(wmcoNS).Get(ctx, subscriptionName, metav1.GetOptions{}); apierrors.IsNotFound(err) {
		return nil
	} else if err != nil {
		return err
	}
	c := *s.state.cluster
	c.wmco = since[minor(s.release)].wmco
	want := unstructuredFrom(c.csv())
	if _, err := s.any.Resource(csvs).Namespace(wmcoNS).Get(ctx, want.GetName(), metav1.GetOptions{}); err == nil && s.followed == s.release {
		if len(s.held) > 0 {
			return s.followNodes(ctx)
		}
		return nil
	}
	if err := s.any.Resource(csvs).Namespace(wmcoNS).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return err
	}
	if _, err := s.any.Resource(csvs).Namespace(wmcoNS).Create(ctx, want, metav1.CreateOptions{}); err != nil {
		return err
	}
	services := c.services()
	if _, err := s.typed.CoreV1().ConfigMaps(wmcoNS).Create(ctx, services, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	s.followed, s.held = s.release, s.holds()
	return s.followNodes(ctx)
}

// holds are the nodes that WMCO 8.1 and 9 don't update until they are released.
// WMCO 8.1 goes by claims, on Azure; WMCO 9 by volumes that are attached, on vSphere too.
// https://github.com/openshift/windows-machine-config-operator/blob/release-4.13/controllers/controllers.go
// https://github.com/openshift/windows-machine-config-operator/blob/release-4.14/controllers/controllers.go
func (s *server) holds() map[string]bool {
	c, held := s.state.cluster, map[string]bool{}
	for _, v := range c.volumes {
		if v.node < 0 || v.linux || c.nodes[v.node].labels[configured] == "true" {
			continue
		}
		attached := slices.Contains([]string{azureDiskName, vsphereName}, cmp.Or(v.provisioner, migratesTo[v.inTree]))
		switch minor(s.release) {
		case "4.13":
			held[c.nodes[v.node].name] = c.platform == "Azure"
		case "4.14":
			held[c.nodes[v.node].name] = held[c.nodes[v.node].name] || attached && (c.platform == "Azure" || c.platform == "VSphere")
		}
	}
	maps.DeleteFunc(held, func(_ string, is bool) bool { return !is })
	return held
}

// configured is the label of nodes that WMCO 8.1 or 9 has configured.
const configured = "windowsmachineconfig.openshift.io/configured-with-csi"

// released tells whether a node may be updated.
func (s *server) released(ctx context.Context, name string) (bool, error) {
	if !s.held[name] {
		return true, nil
	}
	n, err := s.typed.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil || n.Labels["windowsmachineconfig.openshift.io/allow-upgrade"] != "true" {
		return false, err
	}
	delete(s.held, name)
	return true, nil
}

func (s *server) followNodes(ctx context.Context) error {
	v := since[minor(s.release)]
	for _, n := range s.state.cluster.nodes {
		if ok, err := s.released(ctx, n.name); err != nil {
			return err
		} else if !ok {
			continue
		}
		meta := fields{"metadata": fields{"annotations": fields{"windowsmachineconfig.openshift.io/version": v.wmco + "-1a2b3c4", "windowsmachineconfig.openshift.io/desired-version": v.wmco + "-1a2b3c4"}}}
		status := fields{"status": fields{"nodeInfo": fields{"kubeletVersion": v.kubelet, "containerRuntimeVersion": "containerd://" + v.containerd}}}
		for sub, patch := range map[string]fields{"": meta, "status": status} {
			var subs []string
			if sub != "" {
				subs = []string{sub}
			}
			if _, err := s.typed.CoreV1().Nodes().Patch(ctx, n.name, types.MergePatchType, jsonOf(patch), metav1.PatchOptions{}, subs...); err != nil {
				return err
			}
		}
		plugins := fields{"metadata": fields{"annotations": fields{"storage.alpha.kubernetes.io/migrated-plugins": migratedPlugins}}}
		if _, err := s.typed.StorageV1().CSINodes().Patch(ctx, n.name, types.MergePatchType, jsonOf(plugins), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return s.migrate(ctx)
}

// migrate is what the control plane writes on in-tree volumes that CSI serves.
func (s *server) migrate(ctx context.Context) error {
	for _, v := range s.state.cluster.volumes {
		if v.inTree == "" {
			continue
		}
		patch := fields{"metadata": fields{"annotations": fields{"pv.kubernetes.io/migrated-to": migratesTo[v.inTree]}}}
		if _, err := s.typed.CoreV1().PersistentVolumes().Patch(ctx, "pv-"+v.name, types.MergePatchType, jsonOf(patch), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// settlePools says that the pools' machines have followed, but for paused ones, and
// that the Linux nodes have.
func (s *server) settlePools(ctx context.Context) error {
	list, err := s.any.Resource(pools).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, p := range list.Items {
		paused, _, _ := unstructured.NestedBool(p.Object, "spec", "paused")
		updated := "True"
		if paused {
			updated = "False"
		}
		if err := s.patch(ctx, pools, "", p.GetName(), fields{"status": fields{"conditions": []any{fields{"type": "Updated", "status": updated}}}}); err != nil {
			return err
		}
		if p.GetName() != "worker" || paused {
			continue
		}
		patch := fields{"status": fields{"nodeInfo": fields{"kubeletVersion": since[minor(s.release)].kubelet}}}
		if _, err := s.typed.CoreV1().Nodes().Patch(ctx, "worker-1", types.MergePatchType, jsonOf(patch), metav1.PatchOptions{}, "status"); err != nil {
			return err
		}
	}
	return nil
}
