package inventory

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
