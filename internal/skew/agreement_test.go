package skew_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// agreementCases are of answers that contradicted each other, or asked for what
// was done or can't be.
func agreementCases() []ruleCase {
	hp := onWindows(hostProcess)
	left := func(inv *inventory.Inventory) { inv.Cluster.Platform = "" }
	older := func(inv *inventory.Inventory) {
		inv.Cluster.Kubernetes, inv.Cluster.WMCO = "", ""
		onNodes(func(n *inventory.Node) { n.Kubelet = "v1.29.9" })(inv)
	}
	onItsWay := all(wmco("7.2.0-1a2b3c4"), onNodes(func(n *inventory.Node) { n.DesiredWMCO = "8.0.1-1a2b3c4" }))
	inTreeDisk := inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", Provisioner: azureDiskName, InTree: "kubernetes.io/azure-disk"}
	return []ruleCase{
		{name: "two ways out", id: "HP001", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: at("v3.5.0"), want: finding.Block,
			does: "or go back to v3.3.1, the version that Linux has now", fix: at("v3.3.1"), count: 1},
		{name: "where HP001 speaks it doesn't advise", id: "SKEW001", from: "4.19", to: "4.21", inv: storageCluster("4.19", "10.19.1"), change: at("v3.5.0"), want: finding.Warn,
			does: "do what HP001 asks for first", fix: all(at("v3.6.0"), hp), fixedAsk: arrived},
		{name: "EBS has images from 1.56.0 on", id: "NODE003", from: "4.22", inv: clusterOf("4.22", "10.22.1", ebs("v1.54.0")), change: oldOn2025(), want: finding.Block,
			does: "deploy a version with images of it: AWS EBS CSI driver from 1.56.0 on; or apply the project's HostProcess manifest", fix: at("v1.56.0"), count: 1},
		{name: "served by CSI now", id: "INTREE001", from: "4.12", to: "4.13", inv: clusterOf("4.12", "7.2.0", azureDisk("v1.22.0")), change: all(uses(inTreeDisk), registers(nil, 1)), want: finding.Block,
			says: "CSINode of win-1 doesn't list", fix: registers([]string{azureDiskName}, 1), count: 1},
		{name: "a cluster of Azure's", id: "INTREE005", from: "4.12", to: "4.13", inv: clusterOf("4.12", "7.2.0", azureDisk("v1.22.0")), change: left, want: finding.Info, count: 1},
		{name: "no way that is known", id: "NODE002", from: "4.23", to: "5.0", inv: storageCluster("4.23", "10.22.1")},
		{name: "no edge", id: "DATA001", from: "4.23", to: "5.0", inv: storageCluster("4.23", "10.22.1"), want: finding.Unknown,
			says: "knows no update from 4.23 to 5.0", does: "", fixedAsk: func(r *skew.Request, _ *catalog.Catalog) { r.To = "" }},
		{name: "the API server's version wasn't gathered", id: "AFTER004", from: "4.18", inv: storageCluster("4.18", "10.18.0"), change: older, want: finding.Warn,
			says: "kubelet v1.29.9, the API server is 1.31", does: "let WMCO be updated to its release for 4.18", fix: onNodes(func(n *inventory.Node) { n.Kubelet = "v1.31.9" }), count: 1},
		{name: "the WMCO that comes has no csi-proxy", id: "AFTER004", from: "4.13", inv: clusterOf("4.13", "7.2.0", azureFile("v1.25.1")), change: onItsWay, want: finding.Warn,
			does: "do what PROXY001 asks for first", fix: all(wmco("8.1.0-1a2b3c4"), onNodes(func(n *inventory.Node) { n.DesiredWMCO, n.Kubelet = "8.1.0-1a2b3c4", "v1.26.9" }))},
		{name: "and the control plane is there", id: "PROXY001", from: "4.13", inv: clusterOf("4.13", "7.2.0", azureFile("v1.25.1")), change: onItsWay, want: finding.Block,
			does: "let WMCO be updated to 8.1.0 or newer", fix: all(wmco("8.1.0-1a2b3c4"), onNodes(func(n *inventory.Node) { n.DesiredWMCO = "8.1.0-1a2b3c4" }))},
		{name: "WMCO's own is newer", id: "PROXY007", from: "4.20", inv: storageCluster("4.20", "10.20.0"), change: proxyDaemonSet("v1.1.2"), want: finding.Warn,
			does: "delete DaemonSet kube-system/csi-proxy", fix: noProxies, count: 1},
		{name: "on the way to 4.14", id: "INTREE004", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: registers(nil), want: finding.Warn,
			does: "leave it: it registers once the control plane is at 4.14", fix: registers([]string{vsphereName})},
		{name: "vSphere before 4.14 is INTREE004's", id: "REG001", from: "4.13", to: "4.14", inv: storageCluster("4.13", "8.1.0"), change: registers(nil)},
		{name: "an input that couldn't be read is told once", id: "DATA002", from: "4.19", inv: storageCluster("4.19", "10.19.1"), change: func(inv *inventory.Inventory) {
			inv.Read[inventory.Nodes] = inventory.Coverage{Count: 3, Reason: "1 input couldn't be read", Told: true}
			inv.Problems = []inventory.Problem{{Where: "a.yaml:3:7", What: "isn't YAML", Fix: "render the template first"}}
		}, want: finding.Unknown, says: "isn't YAML", fix: func(inv *inventory.Inventory) {
			inv.Problems, inv.Read[inventory.Nodes] = nil, inventory.Coverage{Complete: true, Count: 3}
		}, count: 1},
	}
}

// TestRows holds the table to what the findings say.
func TestRows(t *testing.T) {
	row := func(inv *inventory.Inventory, r skew.Request) skew.Row {
		res := evaluate(t, inv, r)
		return res.Drivers[len(res.Drivers)-1]
	}
	if got := row(clusterOf("4.19", "10.19.1", azureFile("v1.32.3")), skew.Request{To: "4.20"}); got.ModeTarget != "csi-proxy" {
		t.Errorf("nothing asks Azure File to move, and the table says %s -> %s", got.Mode, got.ModeTarget)
	}
	if got := row(storageCluster("4.19", "10.19.1"), skew.Request{To: "4.20"}); got.ModeTarget != "HostProcess" {
		t.Errorf("vSphere must move, and the table says %s -> %s", got.Mode, got.ModeTarget)
	}
	unnamed := storageCluster("4.19", "10.19.1")
	noOpenShift(unnamed)
	if got := row(unnamed, skew.Request{}); got.LinuxNow == "unknown" && got.Severity != finding.Unknown {
		t.Errorf("Linux is %s, and the row says %s", got.LinuxNow, got.Severity)
	}
}

// TestLaterMoment: what is due after the update goes by what Linux is then.
func TestLaterMoment(t *testing.T) {
	res := evaluate(t, clusterOf("4.17", "10.17.1", ebs("v1.28.0")), skew.Request{To: "4.18"})
	fs := ofRule(res, "SKEW001")
	if len(fs) != 1 || !strings.Contains(told(fs[0]), ":v1.34.0") || strings.Contains(told(fs[0]), ":v1.32.0") {
		t.Error(show(fs))
	}
	if !strings.HasSuffix(fs[0].Why, ". It still holds after 4.17.30 -> 4.18 unless it is fixed") {
		t.Error(fs[0].Why)
	}
}

// TestAheadAndThenBehind: what is ahead now may stay, until an update takes Linux
// past it. The plan follows after that one; the next leaves it behind a second time.
func TestAheadAndThenBehind(t *testing.T) {
	res := evaluate(t, clusterOf("4.18", "10.18.1", ebs("v1.40.0")), skew.Request{To: "4.22"})
	fs := ofRule(res, "SKEW001")
	if len(fs) != 3 || fs[0].Severity != finding.Warn || !strings.HasSuffix(fs[0].Remedy, ":v1.48.0") || fs[1].Severity != finding.Info || !strings.HasPrefix(told(fs[1]), "nothing has to be done") ||
		fs[2].Severity != finding.Info || !strings.HasSuffix(fs[2].Remedy, ":v1.45.0") {
		t.Error(show(fs))
	}
}

// TestDistanceInWords: two numbers are said in order, and once.
func TestDistanceInWords(t *testing.T) {
	inv := clusterOf("4.14", "9.0.0", azureFile("v1.26.0"))
	if fs := ofRule(evaluate(t, inv, skew.Request{From: "4.14"}), "SKEW001"); len(fs) != 1 || !strings.HasSuffix(fs[0].Observed, ": 2 or 3 minors behind") {
		t.Error(show(fs))
	}
}

// TestServedNow: a volume that can't be mounted now is told of now.
func TestServedNow(t *testing.T) {
	i := slices.IndexFunc(agreementCases(), func(c ruleCase) bool { return c.name == "served by CSI now" })
	tc := agreementCases()[i]
	tc.change(tc.inv)
	fs := ofRule(evaluate(t, tc.inv, skew.Request{From: tc.from, To: tc.to}), "INTREE001")
	if len(fs) != 1 || fs[0].Phase != string(skew.Now) || !strings.Contains(fs[0].Why, "OpenShift 4.12 serves these volumes") || strings.Contains(fs[0].Why, "once its kubelet") {
		t.Errorf("%s %+v", show(fs), fs)
	}
}
