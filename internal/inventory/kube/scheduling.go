package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/winbake/winbake/internal/inventory"
)

// scheduling copies what decides where a pod runs.
func scheduling(spec *corev1.PodSpec) inventory.Scheduling {
	s := inventory.Scheduling{NodeSelector: spec.NodeSelector}
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, t := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			s.Terms = append(s.Terms, inventory.Term{Expressions: expressions(t.MatchExpressions), Fields: expressions(t.MatchFields)})
		}
	}
	for _, t := range spec.Tolerations {
		s.Tolerations = append(s.Tolerations, inventory.Toleration{
			Key: t.Key, Operator: string(t.Operator), Value: t.Value, Effect: string(t.Effect),
		})
	}
	return s
}

func expressions(from []corev1.NodeSelectorRequirement) []inventory.Expression {
	var out []inventory.Expression
	for _, r := range from {
		out = append(out, inventory.Expression{Key: r.Key, Operator: string(r.Operator), Values: r.Values})
	}
	return out
}
