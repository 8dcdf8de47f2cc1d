package inventory

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// implied are the taints that the DaemonSet controller tolerates for every pod
// that it makes, besides those that the template names:
// https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations
var implied = []string{
	"node.kubernetes.io/not-ready",
	"node.kubernetes.io/unreachable",
	"node.kubernetes.io/disk-pressure",
	"node.kubernetes.io/memory-pressure",
	"node.kubernetes.io/pid-pressure",
	"node.kubernetes.io/unschedulable",
	"node.kubernetes.io/network-unavailable",
}

// Matches tells whether a DaemonSet that is scheduled so puts a pod on n: the
// node's labels are selected and its taints tolerated.
func (s Scheduling) Matches(n Node) bool { return s.Selects(n) && s.Tolerates(n) }

// Selects tells whether the node selector and the required affinity take n.
func (s Scheduling) Selects(n Node) bool {
	for key, value := range s.NodeSelector {
		if have, ok := n.Labels[key]; !ok || have != value {
			return false
		}
	}
	if len(s.Terms) == 0 {
		return true
	}
	return slices.ContainsFunc(s.Terms, func(t Term) bool { return t.matches(n) })
}

// matches is as the scheduler has it: all requirements of a term hold, and a
// term without any matches nothing.
func (t Term) matches(n Node) bool {
	if len(t.Expressions)+len(t.Fields) == 0 {
		return false
	}
	for _, e := range t.Expressions {
		value, ok := n.Labels[e.Key]
		if !e.holds(value, ok) {
			return false
		}
	}
	for _, e := range t.Fields {
		if e.Key != "metadata.name" || !e.holds(n.Name, true) {
			return false
		}
	}
	return true
}

// holds tells whether a label's value satisfies e; present is false where the
// node doesn't have the label.
func (e Expression) holds(value string, present bool) bool {
	switch e.Operator {
	case "In":
		return present && slices.Contains(e.Values, value)
	case "NotIn":
		return !present || !slices.Contains(e.Values, value)
	case "Exists":
		return present
	case "DoesNotExist":
		return !present
	case "Gt", "Lt":
		return present && e.compares(value)
	}
	return false
}

func (e Expression) compares(value string) bool {
	if len(e.Values) != 1 {
		return false
	}
	have, errHave := strconv.ParseInt(value, 10, 64)
	want, errWant := strconv.ParseInt(e.Values[0], 10, 64)
	return errHave == nil && errWant == nil && (e.Operator == "Gt" && have > want || e.Operator == "Lt" && have < want)
}

// Tolerates tells whether the pods tolerate the taints of n that keep pods
// away.
func (s Scheduling) Tolerates(n Node) bool {
	for _, t := range n.Taints {
		if t.Effect == "PreferNoSchedule" || slices.Contains(implied, t.Key) {
			continue
		}
		if !slices.ContainsFunc(s.Tolerations, func(o Toleration) bool { return o.tolerates(t) }) {
			return false
		}
	}
	return true
}

func (o Toleration) tolerates(t Taint) bool {
	if o.Effect != "" && o.Effect != t.Effect {
		return false
	}
	if o.Operator == "Exists" {
		return o.Key == "" || o.Key == t.Key
	}
	return o.Key == t.Key && o.Value == t.Value
}

// Scheduling is what decides which nodes a DaemonSet's pods run on.
type Scheduling struct {
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Terms are the required node affinity: a node must match any term.
	Terms       []Term       `json:"terms,omitempty"`
	Tolerations []Toleration `json:"tolerations,omitempty"`
}

// Term is one nodeSelectorTerm: all expressions must match.
type Term struct {
	Expressions []Expression `json:"expressions,omitempty"`
	Fields      []Expression `json:"fields,omitempty"`
}

// Expression is one match expression: In, NotIn, Exists, DoesNotExist, Gt, Lt.
type Expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Toleration lets a pod run on a tainted node.
type Toleration struct {
	Key      string `json:"key,omitempty"`
	Operator string `json:"operator,omitempty"`
	Value    string `json:"value,omitempty"`
	Effect   string `json:"effect,omitempty"`
}

// With is what keeps a pod to some nodes with what its class adds.
func (s Scheduling) With(class Scheduling) Scheduling {
	if len(class.NodeSelector) > 0 {
		both := maps.Clone(class.NodeSelector)
		maps.Copy(both, s.NodeSelector)
		s.NodeSelector = both
	}
	s.Tolerations = slices.Concat(s.Tolerations, class.Tolerations)
	return s
}

// Chooses tells whether a pod asks for nodes by what sets some apart: that no
// Linux node was read with what all nodes have proves nothing.
func (s Scheduling) Chooses() bool {
	for key := range s.NodeSelector {
		if setsApart(key) {
			return true
		}
	}
	return len(s.Terms) > 0 && !slices.ContainsFunc(s.Terms, func(t Term) bool {
		return !slices.ContainsFunc(slices.Concat(t.Expressions, t.Fields), func(e Expression) bool {
			return setsApart(e.Key) && e.Operator != "NotIn" && e.Operator != "DoesNotExist"
		})
	})
}

// everywhere are labels, and domains of labels, that nodes of either system
// have: https://kubernetes.io/docs/reference/labels-annotations-taints/
var everywhere = []string{
	"kubernetes.io/arch", "beta.kubernetes.io/arch", "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type",
	"topology.kubernetes.io/", "failure-domain.beta.kubernetes.io/", "node-role.kubernetes.io/",
}

func setsApart(label string) bool {
	return !slices.ContainsFunc(everywhere, func(e string) bool {
		return label == e || strings.HasSuffix(e, "/") && strings.HasPrefix(label, e)
	})
}
