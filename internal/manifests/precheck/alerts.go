package precheck

import (
	"fmt"
	"strings"
)

// oc adm upgrade recommend shows each alert that fires with precheckLabel at
// "true", as "SEVERITY alert NAME firing, suggesting issues worth investigating
// before updating the cluster", then summary, description and runbook_url. From
// 4.22 on the Cluster Version Operator does too, where its feature gate for risks
// that are accepted is on: while such an alert fires every update that is offered
// is a conditional one. So offers are read from both of ClusterVersion's lists.
// https://github.com/openshift/oc/blob/release-4.22/pkg/cli/admin/upgrade/recommend/alerts.go
// https://github.com/openshift/cluster-version-operator/blob/release-4.22/pkg/risk/alert/alert.go
//
// An alert of severity critical is shown as trouble of the cluster instead, and
// wakes people: no update that somebody may or may not begin is worth that.
const precheckLabel = "openShiftUpdatePrecheck"

const runbook = "https://github.com/winbake/winbake/blob/main/docs/precheck.md#"

// concerns are those of each offered update. During a rollout two pods tell of
// each.
const concerns = "max by (namespace, minor, to) (winbake_precheck_concern)"

// The values of concerns, as package precheck serves them.
const (
	actFirst   = 2
	notKnown   = 3
	breaksThen = 4
	brokenNow  = 5
)

// memory is how long the last concern that was known counts. It's longer than
// WinbakeUpdateUnknown and WinbakePrecheckAbsent take to fire one after the other:
// oc passes pending alerts over, and would show nothing until then.
const memory = "35m"

// counted is how many of the offered updates of a minor have a concern.
func counted(concern string) string {
	return "count by (namespace, minor) (" + concern + ")"
}

// served is a concern that is served now.
func served(value int) string { return fmt.Sprintf("%s == %d", concerns, value) }

// lastKnown is a concern that is served now, or was the last one before the update
// became unknown or its series ended. A known one replaces it at once, and
// where all is known an update without a series is one that's offered no more:
// keep_firing_for would go on about both.
func lastKnown(value int) string {
	was := fmt.Sprintf("last_over_time((%s != %d)[%s:30s]) == %d", concerns, notKnown, memory, value)
	known := fmt.Sprintf("winbake_precheck_last_evaluation_success == 1 unless on (namespace) winbake_precheck_concern == %d", notKnown)
	return fmt.Sprintf("%s or (%s unless on (namespace) (%s))", served(value), was, known)
}

// alerts are all rules. $value is how many of the offered updates it is.
func alerts() []rule {
	const blink = "15m" // longer than a restart, of this or of the API server
	breaks := alert("WinbakeUpdateBlocked", "warning", counted(lastKnown(breaksThen)), "",
		"Windows CSI drivers break with an update to OpenShift {{ $labels.minor }}",
		`The verdict on {{ $value }} of the offered updates to OpenShift {{ $labels.minor }} is BLOCK, or was when it could last be told: something that Windows nodes do now stops working, by a known ground. What, and what to do before the update, says: verify skew --to {{ $labels.minor }}`)
	breaks.Labels["fault"] = "update"
	broken := alert("WinbakeUpdateBlocked", "warning", counted(lastKnown(brokenNow)), "",
		"Windows CSI drivers don't work now, so an update to OpenShift {{ $labels.minor }} has to wait",
		`The verdict on {{ $value }} of the offered updates to OpenShift {{ $labels.minor }} is BLOCK, or was when it could last be told: something doesn't work on Windows nodes already, and the update breaks nothing more. What, and how to fix it, says: verify skew --to {{ $labels.minor }}`)
	broken.Labels["fault"] = "present"
	return []rule{
		breaks, broken,
		alert("WinbakeUpdateUnknown", "warning", counted(served(notKnown)), blink,
			"It can't be told whether an update{{ with $labels.minor }} to OpenShift {{ . }}{{ end }} is safe for Windows CSI drivers",
			`The verdict on {{ $value }} of the offered updates{{ with $labels.minor }} to OpenShift {{ . }}{{ end }} is UNKNOWN: something couldn't be read, isn't known, or the last evaluation that succeeded is too old. What is missing says: verify skew{{ with $labels.minor }} --to {{ . }}{{ end }}; why an evaluation failed says the log of the Deployment `+name),
		alert("WinbakeUpdateWarning", "info", counted(lastKnown(actFirst)), "",
			"Something has to be done before an update to OpenShift {{ $labels.minor }}",
			`The verdict on {{ $value }} of the offered updates to OpenShift {{ $labels.minor }} is WARN, or was when it could last be told, and a warning asks for an act before the update. Which, and what to do, says: verify skew --to {{ $labels.minor }}`),
		alert("WinbakePrecheckAbsent", "warning", "absent(winbake_precheck_last_evaluation_timestamp_seconds > 0)", blink,
			"Nobody looks whether an update is safe for Windows CSI drivers",
			`The Deployment `+name+` tells nothing: it doesn't run, has ended no evaluation since it began, or Prometheus doesn't reach it. Until it does: verify skew --to RELEASE`),
	}
}

func alert(name, severity, expr, hold, summary, description string) rule {
	return rule{
		Alert: name, Expr: expr, For: hold,
		Labels: map[string]string{"severity": severity, precheckLabel: "true"},
		Annotations: map[string]string{
			"summary": summary + ".", "description": description + ".", "runbook_url": runbook + strings.ToLower(name),
		},
	}
}
