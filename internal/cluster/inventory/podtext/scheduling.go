package podtext

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/cluster/inventory"
)

// Scheduling is what a pod asks of the nodes that it runs on.
func Scheduling(spec *corev1.PodSpec) inventory.Scheduling {
	s := inventory.Scheduling{NodeSelector: spec.NodeSelector}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil {
		s.Terms = Terms(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution)
	}
	s.Tolerations = Tolerations(spec.Tolerations)
	return s
}

// Terms are what a node must match any of.
func Terms(from *corev1.NodeSelector) []inventory.Term {
	if from == nil {
		return nil
	}
	var out []inventory.Term
	for _, t := range from.NodeSelectorTerms {
		out = append(out, inventory.Term{Expressions: expressions(t.MatchExpressions), Fields: expressions(t.MatchFields)})
	}
	return out
}

// Tolerations are those of a pod.
func Tolerations(from []corev1.Toleration) []inventory.Toleration {
	var out []inventory.Toleration
	for _, t := range from {
		out = append(out, inventory.Toleration{Key: t.Key, Operator: string(t.Operator), Value: t.Value, Effect: string(t.Effect)})
	}
	return out
}

func expressions(from []corev1.NodeSelectorRequirement) []inventory.Expression {
	var out []inventory.Expression
	for _, r := range from {
		out = append(out, inventory.Expression{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
	}
	return out
}

// Unscheduled is the node that a DaemonSet's pod is made for and that it can't get onto,
// and what the scheduler says; "" for a pod that has its node. Its controller names the
// node by the affinity's field:
// https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#how-daemon-pods-are-scheduled
func Unscheduled(pod *corev1.Pod) (node, reason string) {
	for _, c := range pod.Status.Conditions {
		if pod.Spec.NodeName == "" && c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			reason = c.Reason + " (" + c.Message + ")"
		}
	}
	if reason == "" {
		return "", ""
	}
	for _, t := range Scheduling(&pod.Spec).Terms {
		for _, f := range t.Fields {
			if f.Key == "metadata.name" && len(f.Values) == 1 {
				node = f.Values[0]
			}
		}
	}
	return node, reason
}
