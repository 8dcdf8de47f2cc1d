package precheck

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The kinds of Prometheus' operator, as far as they're used here: its own module
// would be the largest of all for these few fields. A test has a real API server
// take them by the operator's own schemas.
// https://prometheus-operator.dev/docs/api-reference/api/

const monitoringVersion = "monitoring.coreos.com/v1"

type monitor struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              monitorSpec `json:"spec"`
}

type monitorSpec struct {
	Selector  metav1.LabelSelector `json:"selector"`
	Endpoints []endpoint           `json:"endpoints"`
}

type endpoint struct {
	Port     string `json:"port"`
	Interval string `json:"interval"`
}

type ruleFile struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ruleSpec `json:"spec"`
}

type ruleSpec struct {
	Groups []ruleGroup `json:"groups"`
}

type ruleGroup struct {
	Name  string `json:"name"`
	Rules []rule `json:"rules"`
}

type rule struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	For         string            `json:"for,omitempty"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func serviceMonitor(ns string) *monitor {
	return &monitor{
		TypeMeta: metav1.TypeMeta{APIVersion: monitoringVersion, Kind: "ServiceMonitor"}, ObjectMeta: meta(ns),
		Spec: monitorSpec{Selector: metav1.LabelSelector{MatchLabels: labels()}, Endpoints: []endpoint{{Port: portName, Interval: "30s"}}},
	}
}

func prometheusRule(ns string) *ruleFile {
	return &ruleFile{
		TypeMeta: metav1.TypeMeta{APIVersion: monitoringVersion, Kind: "PrometheusRule"}, ObjectMeta: meta(ns),
		Spec: ruleSpec{Groups: []ruleGroup{{Name: name, Rules: alerts()}}},
	}
}
