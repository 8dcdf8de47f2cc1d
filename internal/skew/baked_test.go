package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/internal/skew"
)

// TestReplacement: a DaemonSet is replaced under its own name, as a whole, with
// what the nodes need, and a namespace that was read gets the level that it lacks.
func TestReplacement(t *testing.T) {
	const (
		bake  = "bake manifests csi-driver --upgrade-from openshift-cluster-csi-drivers.vsphere-windows-old.yaml --for 4.20 --mode hostprocess"
		out   = " --out vsphere-4.20-vsphere-windows\n"
		level = "oc label namespace/" + csidriver.OperatorNamespace + " pod-security.kubernetes.io/enforce=privileged"
	)
	for name, tc := range map[string]struct {
		change   change
		has, not string
	}{
		"as it is":                    {func(*inventory.Inventory) {}, bake + out, level},
		"nodes of 2019":               {func(inv *inventory.Inventory) { builds(inv, 17763, 17763, 17763) }, bake + " --windows 2019" + out, level},
		"nodes of two":                {func(inv *inventory.Inventory) { builds(inv, 17763, 20348, 20348) }, bake + out, "--windows"},
		"a privileged namespace":      {namespace("privileged"), bake + out, level},
		"a namespace that isn't":      {namespace("baseline"), level, "delete daemonset"},
		"one that rolls":              {func(*inventory.Inventory) {}, "oc replace -f vsphere-4.20-vsphere-windows/08-daemonset.yaml\noc -n openshift-cluster-csi-drivers rollout status daemonset/vsphere-windows", "delete"},
		"one whose pods are deleted":  {onWindows(func(d *inventory.Driver) { d.Strategy = "OnDelete" }), `-l "$selector,controller-revision-hash!=$newest"`, "rollout status"},
		"another beside it":           {all(narrowed, secondPool), bake + out, "delete"},
		"a version that no one bakes": {func(inv *inventory.Inventory) { at("v3.5.1")(inv) }, "Give it the present one's name, namespace, selector", "oc replace -f"},
		"rights come before the pods": {func(*inventory.Inventory) {}, "oc apply -f vsphere-4.20-vsphere-windows/03-scc.yaml | tee -a vsphere-4.20-vsphere-windows-made.txt\noc replace -f", level},
		"in the cluster's own":        {inNamespace("kube-system"), "oc apply -f vsphere-4.20-vsphere-windows/02-service-account.yaml", "01-namespace.yaml"},
		"in a namespace of one's own": {inNamespace("csi"), "oc -n csi get daemonset/vsphere-windows -o yaml", "delete daemonset"},
	} {
		inv := storageCluster("4.19", "10.19.1")
		all(pooled, tc.change)(inv)
		said := ""
		for _, f := range append(ofRule(evaluate(t, inv, skew.Request{To: "4.20"}), "HP005"), ofRule(evaluate(t, inv, skew.Request{To: "4.20"}), "HP001")...) {
			if strings.HasSuffix(f.Object, "/vsphere-windows") {
				said += told(f) + "\n"
			}
		}
		if !strings.Contains(said, tc.has) || strings.Contains(said, tc.not) {
			t.Errorf("%s: want %q and not %q in\n%s", name, tc.has, tc.not, said)
		}
	}
}

func builds(inv *inventory.Inventory, all ...int) {
	for i := range inv.Nodes {
		inv.Nodes[i].Build = all[i]
	}
}

func namespace(level string) change {
	return func(inv *inventory.Inventory) {
		inv.Cluster.Namespaces = []inventory.Namespace{{Name: csidriver.OperatorNamespace, Enforce: level}}
	}
}

func inNamespace(name string) change {
	return onWindows(func(d *inventory.Driver) { d.Object.Namespace = name })
}

// TestReplacedOnce: later hops go on from what an earlier step made, and keep the
// flag that it added.
func TestReplacedOnce(t *testing.T) {
	got := plan(evaluate(t, storageCluster("4.19", "10.19.1"), skew.Request{To: "4.22"}))
	if strings.Count(got, "oc replace") != 1 || strings.Count(got, " set image ") != 1 || strings.Contains(got, "delete daemonset") {
		t.Error(got)
	}
	inv := clusterOf("4.19", "10.19.1", azureDisk("v1.32.0-windows-hp"))
	onWindows(hostProcess)(inv)
	once := plan(evaluate(t, inv, skew.Request{To: "4.21"}))
	if strings.Count(once, "--enable-windows-host-process") > 1 {
		t.Error(once)
	}
}
