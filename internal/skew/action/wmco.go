package action

import (
	"maps"
	"strings"

	"github.com/winbake/winbake/internal/inventory"
)

const (
	wmcoNamespace = "openshift-windows-machine-config-operator"
	wmco          = "windows-machine-config-operator"
	// subscription is spelled out: other groups have subscriptions too.
	subscription = "subscriptions.operators.coreos.com"
	savedWMCO    = "wmco-subscription.yaml"
)

// wmcoOfNodes prints which WMCO configured each Windows node, a line each.
var wmcoOfNodes = []string{"oc", "get", "nodes", "-l", "kubernetes.io/os=windows", "-o",
	`jsonpath={range .items[*]}{.metadata.annotations.windowsmachineconfig\.openshift\.io/version}{"\n"}{end}`}

// newEnough is an awk that every line, a version, must be of a minor release of WMCO
// for, or of a newer one: no line at all is no answer.
func newEnough(wmco string) string {
	major, rest, _ := strings.Cut(wmco, ".")
	minor, _, _ := strings.Cut(rest, ".")
	return "awk -F. -v major=" + major + " -v minor=" + minor + ` 'major > $1 || major == $1 && minor > $2 { bad = 1 } END { exit bad || NR == 0 }'`
}

// UpdateWMCO lets WMCO follow, and the Windows nodes with it.
type UpdateWMCO struct {
	// OpenShift is the minor, WMCO the first release of WMCO for it, "" where the
	// catalog doesn't know it, Kubernetes that of its kubelet.
	OpenShift, WMCO, Kubernetes string
	// AtLeast: an older WMCO of that minor won't do.
	AtLeast bool
	// Held: WMCO holds nodes that have volumes until each is released.
	Held bool
}

func (a UpdateWMCO) write(r *record) {
	r.say("update-wmco", "let WMCO be updated to its release for %s (approve its install plan where that is manual), and wait until every Windows node is ready and shows that version", a.OpenShift)
	if a.Held {
		r.say("update-wmco", "let WMCO be updated to its release for %s (approve its install plan where that is manual); it holds the Windows nodes that have volumes", a.OpenShift)
	}
	if a.AtLeast {
		then := ", and wait until every Windows node is ready and shows that version"
		if a.Held {
			then = "; it holds the Windows nodes that have volumes"
		}
		r.say("update-wmco", "let WMCO be updated to %s or newer (OpenShift %s)"+then, a.WMCO, a.OpenShift)
	}
	r.Object = "Subscription " + wmcoNamespace + "/" + wmco
	r.run("oc", "-n", wmcoNamespace, "get", subscription+",installplans,csv")
	switch {
	case a.WMCO == "":
	case a.Held: // its nodes wait for the next action
		r.done("oc", "-n", wmcoNamespace, "get", "csv", "-o", `jsonpath={range .items[?(@.status.phase=="Succeeded")]}{.metadata.name}{"\n"}{end}`, raw("| sed -n 's/^"+wmco+`\.v//p' | `+newEnough(a.WMCO)))
	default:
		r.done(wmcoOfNodes, raw("| "+newEnough(a.WMCO)))
	}
	r.NoUndo = "WMCO isn't taken back"
	r.Interrupts = "WMCO drains the Windows nodes one at a time: their pods move"
}

// Apply moves WMCO and the nodes that it configured.
func (a UpdateWMCO) Apply(inv *inventory.Inventory) {
	if a.WMCO == "" {
		return
	}
	inv.Cluster.WMCO, inv.Cluster.Services = a.WMCO, nil
	for i := range inv.Nodes {
		n := &inv.Nodes[i]
		if n.WMCO == "" {
			continue
		}
		n.WMCO, n.DesiredWMCO, n.CSIProxy = a.WMCO, "", nil
		if ConfiguresCSI(a.OpenShift, inv.Cluster.Platform) {
			n.Labels = maps.Clone(n.Labels)
			if n.Labels == nil {
				n.Labels = map[string]string{}
			}
			n.Labels[ConfiguredForCSI] = "true"
		}
		if a.Kubernetes != "" {
			n.Kubelet = "v" + a.Kubernetes + ".0"
		}
	}
}

// RemoveWMCO takes the operator away for an update over two minors. Its
// namespace, with the key Secret and the ConfigMap windows-instances, stays.
type RemoveWMCO struct{}

// Apply takes it out; the nodes stay as it configured them.
func (RemoveWMCO) Apply(inv *inventory.Inventory) { inv.Cluster.WMCO = "" }

func (RemoveWMCO) write(r *record) {
	r.say("remove-wmco", "remove WMCO's Subscription and ClusterServiceVersion; its namespace, the Secret cloud-private-key and the ConfigMap windows-instances stay, and Windows pods run on")
	r.Object = "Subscription " + wmcoNamespace + "/" + wmco
	// startingCSV would bring the old release back.
	r.save(inventory.Object{Kind: subscription, Namespace: wmcoNamespace, Name: wmco}, savedWMCO, "startingCSV")
	r.run("oc", "-n", wmcoNamespace, "delete", subscription, wmco, "--ignore-not-found")
	r.run(raw("oc -n " + wmcoNamespace + ` get csv -o name | sed -n '/\/` + wmco + `\.v/p' | xargs -r oc -n ` + wmcoNamespace + " delete"))
	r.done("test", "-s", savedWMCO, raw("&& ! oc -n "+wmcoNamespace+" get "+subscription+" "+wmco+" >/dev/null 2>&1"))
	r.undo("oc", "create", "-f", savedWMCO)
}

// InstallWMCO brings it back, from the Subscription that was saved.
type InstallWMCO struct{ UpdateWMCO }

func (a InstallWMCO) write(r *record) {
	a.UpdateWMCO.write(r)
	then := "wait until every Windows node is ready and shows its version"
	if a.Held {
		then = "it holds the Windows nodes that have volumes"
	}
	r.say("install-wmco", "install WMCO again, for %s, and "+then, a.OpenShift)
	r.Commands = nil
	r.run("oc", "-n", wmcoNamespace, "get", subscription, wmco, raw(">/dev/null 2>&1 ||"), "oc", "create", "-f", savedWMCO)
}

// ReleaseNodes lets WMCO 8 and 9 update nodes that have volumes.
type ReleaseNodes struct {
	nothing
	// Provisioner is what a node's CSINode must list first; "" for nothing.
	Provisioner string
	// WMCO is the release that they get.
	WMCO string
}

const allowUpgrade = "windowsmachineconfig.openshift.io/allow-upgrade"

// ConfiguredForCSI is the label of a node that WMCO has configured for CSI.
const ConfiguredForCSI = "windowsmachineconfig.openshift.io/configured-with-csi"

// ConfiguresCSI tells whether WMCO for a release puts that label on the nodes of a
// platform: WMCO 8.1 (4.13) wherever that is known and not vSphere, WMCO 9 (4.14)
// everywhere, no other one anywhere. openshift/windows-machine-config-operator,
// release-4.13 and release-4.14: CSIStorageEnabled in pkg/cluster/config.go.
func ConfiguresCSI(openshift, platform string) bool {
	return openshift == "4.14" || openshift == "4.13" && platform != "VSphere" && platform != ""
}

func (a ReleaseNodes) write(r *record) {
	when, listed := "the node before it has WMCO's version and is ready", ""
	if a.Provisioner != "" {
		when = "its CSINode lists " + a.Provisioner + " and " + when
		listed = `
  oc get csinode "${node#node/}" -o jsonpath='{.spec.drivers[*].name}' | grep -w -- ` + r.line(a.Provisioner) + ` >/dev/null || exit 1`
	}
	r.say("release-nodes", "release the Windows nodes to WMCO one at a time, each when %s", when)
	// The label is taken off again: the next update of WMCO asks once more.
	r.run(raw(`for node in $(oc get nodes -l kubernetes.io/os=windows -o name); do
  followed() { oc get "$node" -o jsonpath='{.metadata.annotations.windowsmachineconfig\.openshift\.io/version}{"\n"}' | ` + newEnough(a.WMCO) + `; }
  followed && continue` + listed + `
  oc label "$node" ` + allowUpgrade + `=true --overwrite
  until followed; do sleep "${POLL:-30}"; done
  oc wait "$node" --for=condition=Ready --timeout=1h || exit 1
  oc label "$node" ` + allowUpgrade + `-
done`))
	r.done(wmcoOfNodes, raw("| "+newEnough(a.WMCO)))
	r.NoUndo = "a node that WMCO has updated isn't taken back"
	r.Interrupts = "the pods of one Windows node at a time, until it is ready again"
}
