// This module holds no code: it pins the schemas of ServiceMonitor and
// PrometheusRule, which the tests give to an API server.
module github.com/winbake/winbake/test/cluster/precheck/crds

go 1.26.0

require github.com/prometheus-operator/prometheus-operator v0.90.1
