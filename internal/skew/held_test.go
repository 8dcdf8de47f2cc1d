package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// WMCO 8.1 and 9 hold nodes that have volumes, of CSI too: an update of WMCO that
// waited for its nodes before they are released would never end.
func TestHeldNodesAreReleased(t *testing.T) {
	volume := func(provisioner, inTree, claim string) change {
		return uses(inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: claim, Provisioner: provisioner, InTree: inTree})
	}
	configured := onNodes(func(n *inventory.Node) {
		n.Labels = map[string]string{"kubernetes.io/os": "windows", "windowsmachineconfig.openshift.io/configured-with-csi": "true"}
	})
	platform := func(name string) change { return func(inv *inventory.Inventory) { inv.Cluster.Platform = name } }
	const never, always, listed = "", "release-nodes", "release-nodes csi.vsphere.vmware.com"
	for name, c := range map[string]struct {
		from, to string
		inv      *inventory.Inventory
		change   change
		eus      bool
		want     string
	}{
		"a claim of CSI on Azure":          {"4.12", "4.13", clusterOf("4.12", "7.2.0", azureDisk("v1.22.0")), all(platform("Azure"), volume(azureDiskName, "", "shop/data")), false, always},
		"an inline volume":                 {"4.12", "4.13", clusterOf("4.12", "7.2.0", azureFile("v1.21.0")), all(platform("Azure"), volume(azureFileName, "", "")), false, never},
		"no volume":                        {"4.12", "4.13", clusterOf("4.12", "7.2.0", azureDisk("v1.22.0")), platform("Azure"), false, never},
		"a claim on vSphere, WMCO 8":       {"4.12", "4.13", storageCluster("4.12", "7.2.0"), all(platform("VSphere"), volume(vsphereName, inTreeVSphere, "shop/data")), false, never},
		"in-tree on vSphere, WMCO 9":       {"4.13", "4.14", storageCluster("4.13", "8.1.0"), all(platform("VSphere"), volume(vsphereName, inTreeVSphere, "shop/data")), false, listed},
		"CSI on vSphere, WMCO 9":           {"4.13", "4.14", storageCluster("4.13", "8.1.0"), all(platform("VSphere"), volume(vsphereName, "", "shop/data")), false, always},
		"nodes that WMCO 8.1 configured":   {"4.13", "4.14", clusterOf("4.13", "8.1.0", azureDisk("v1.26.1")), all(platform("Azure"), configured, volume(azureDiskName, "", "shop/data")), false, never},
		"nodes that WMCO 8.0 configured":   {"4.13", "4.14", clusterOf("4.13", "8.0.1", azureDisk("v1.26.1")), all(platform("Azure"), volume(azureDiskName, "", "shop/data")), false, always},
		"Azure File, which isn't attached": {"4.12", "4.14", clusterOf("4.12", "7.2.0", azureFile("v1.21.0")), all(platform("Azure"), volume(azureFileName, "", "shop/data")), true, never},
		"a disk over two minors":           {"4.12", "4.14", clusterOf("4.12", "7.2.0", azureDisk("v1.22.0")), all(platform("Azure"), volume(azureDiskName, "", "shop/data")), true, always},
		"another platform":                 {"4.12", "4.13", clusterOf("4.12", "7.2.0", ebs("v1.12.0")), all(platform("AWS"), volume("ebs.csi.aws.com", "", "shop/data")), false, never},
		"an update after the gate":         {"4.14", "4.15", storageCluster("4.14", "9.0.1"), all(platform("VSphere"), volume(vsphereName, "", "shop/data")), false, never},
	} {
		c.change(c.inv)
		got, held := "", false
		for _, s := range evaluate(t, c.inv, skew.Request{From: c.from, To: c.to, EUS: &c.eus}).Steps {
			for _, a := range s.Actions {
				held = held || strings.Contains(a.Summary, "it holds the Windows nodes")
				if a.Kind == "release-nodes" {
					got += a.Kind
					if strings.Contains(a.Commands[0], "oc get csinode") {
						got += " " + vsphereName
					}
				}
			}
		}
		if got != c.want || held != (got != "") {
			t.Errorf("%s: %q, want %q; WMCO is said to hold nodes: %t", name, got, c.want, held)
		}
	}
}
