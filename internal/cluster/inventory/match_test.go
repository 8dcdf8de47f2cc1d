package inventory

import "testing"

func TestMatches(t *testing.T) {
	win := Node{Name: "win-1", Labels: map[string]string{"kubernetes.io/os": "windows", "build": "20348"}}
	tainted := Node{Name: "win-2", Labels: win.Labels, Taints: []Taint{{Key: "os", Value: "Windows", Effect: "NoSchedule"}}}
	term := func(key, operator string, values ...string) Scheduling {
		return Scheduling{Terms: []Term{{Expressions: []Expression{{key, operator, values}}}}}
	}
	field := func(operator, name string) Scheduling {
		return Scheduling{Terms: []Term{{Fields: []Expression{{"metadata.name", operator, []string{name}}}}}}
	}
	tolerate := func(o Toleration) Scheduling { return Scheduling{Tolerations: []Toleration{o}} }
	for name, c := range map[string]struct {
		s    Scheduling
		n    Node
		want bool
	}{
		"nothing asked":          {Scheduling{}, win, true},
		"selected":               {Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "windows"}}, win, true},
		"other value":            {Scheduling{NodeSelector: map[string]string{"kubernetes.io/os": "linux"}}, win, false},
		"label missing":          {Scheduling{NodeSelector: map[string]string{"zone": ""}}, win, false},
		"In":                     {term("build", "In", "17763", "20348"), win, true},
		"not In":                 {term("build", "In", "17763"), win, false},
		"NotIn":                  {term("build", "NotIn", "17763"), win, true},
		"NotIn, label missing":   {term("zone", "NotIn", "a"), win, true},
		"NotIn, not":             {term("build", "NotIn", "20348"), win, false},
		"Exists":                 {term("build", "Exists"), win, true},
		"Exists, not":            {term("zone", "Exists"), win, false},
		"DoesNotExist":           {term("zone", "DoesNotExist"), win, true},
		"Gt":                     {term("build", "Gt", "20000"), win, true},
		"Gt, not":                {term("build", "Gt", "20348"), win, false},
		"Lt":                     {term("build", "Lt", "26100"), win, true},
		"Lt of a text":           {term("kubernetes.io/os", "Lt", "26100"), win, false},
		"Gt without a number":    {term("build", "Gt", "many"), win, false},
		"unknown operator":       {term("build", "Like", "20348"), win, false},
		"a term without asking":  {Scheduling{Terms: []Term{{}}}, win, false},
		"any term":               {Scheduling{Terms: []Term{{}, {Expressions: []Expression{{"build", "Exists", nil}}}}}, win, true},
		"by name":                {field("In", "win-1"), win, true},
		"by another name":        {field("NotIn", "win-1"), win, false},
		"not tolerated":          {Scheduling{}, tainted, false},
		"tolerated":              {tolerate(Toleration{Key: "os", Value: "Windows", Effect: "NoSchedule"}), tainted, true},
		"tolerated, all effects": {tolerate(Toleration{Key: "os", Operator: "Equal", Value: "Windows"}), tainted, true},
		"other value tolerated":  {tolerate(Toleration{Key: "os", Value: "windows"}), tainted, false},
		"other effect tolerated": {tolerate(Toleration{Key: "os", Operator: "Exists", Effect: "NoExecute"}), tainted, false},
		"key tolerated":          {tolerate(Toleration{Key: "os", Operator: "Exists"}), tainted, true},
		"everything tolerated":   {tolerate(Toleration{Operator: "Exists"}), tainted, true},
		"a preference":           {Scheduling{}, Node{Taints: []Taint{{Key: "os", Effect: "PreferNoSchedule"}}}, true},
		"cordoned":               {Scheduling{}, Node{Taints: []Taint{{Key: "node.kubernetes.io/unschedulable", Effect: "NoSchedule"}}}, true},
		"not ready":              {Scheduling{}, Node{Taints: []Taint{{Key: "node.kubernetes.io/not-ready", Effect: "NoExecute"}}}, true},
	} {
		if got := c.s.Matches(c.n); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
