package skew_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/base/finding"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// TestMissingFields takes each field and each element of rich inventories away, one at
// a time: there must be an answer, its findings whole, its verdict the worst of
// them.
func TestMissingFields(t *testing.T) {
	use := uses(inventory.VolumeUse{Node: "win-1", Volume: "data", Claim: "shop/data", PV: "pv-1", Provisioner: vsphereName})
	rich := storageCluster("4.19", "10.19.1")
	all(use, inTreeVolumes(inTreeVSphere, vsphereName, "VSphere"), proxyDaemonSet("v1.2.1"), services("10.19.1-1a2b3c4", "csi-proxy"), proxyLog("v1.1.3-34-g5cb6e2d", 0),
		payloadOf("4.20.3", "vsphere-csi-driver", knownCommit("vsphere", "3.5.0")), onWindows(func(d *inventory.Driver) { d.Registrar.Probe = []string{"/csi-node-driver-registrar.exe"} }))(rich)
	own := clusterOf("4.12", "7.2.0", windowsDriver("", "csi.example.com", "v1.2.0", "disk-v1"))
	all(linuxOf("", "csi.example.com", "v1.4.0"), inTreeVolumes(inTreeAzureFile, azureFileName, "Azure"), build(26100))(own)
	host := clusterOf("4.21", "10.21.0", vsphereHostProcess("v3.6.0"))
	build(26100)(host)
	cases := 0
	for _, of := range []struct {
		name, to string // two updates on: more hops ask the same again
		inv      *inventory.Inventory
	}{{"vsphere", "4.21", rich}, {"a driver of its own", "4.14", own}, {"HostProcess", "5.0", host}} {
		for _, ask := range []skew.Request{{}, {To: of.to}} {
			answered(t, of.name+" whole", of.inv, ask)
			eachWithout(t, of.inv, func(path string, without *inventory.Inventory) {
				cases++
				answered(t, of.name+" without "+path, without, ask)
			})
		}
	}
	if cases != 892 {
		t.Errorf("%d cases", cases)
	}
}

func answered(t *testing.T, name string, inv *inventory.Inventory, ask skew.Request) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: %v", name, r)
		}
	}()
	c := testCatalog(t)
	ask.Now = c.AsOf
	res, err := skew.Evaluate(c, inv, ask)
	if err != nil {
		return // a target that is older than the cluster
	}
	worst := finding.Pass
	for _, f := range res.Findings {
		if f.Object == "" || f.Observed == "" || f.Why == "" || f.Source == "" || f.Severity > finding.Info && f.Remedy == "" {
			t.Fatalf("%s: half a finding: %+v", name, f)
		}
		if f.Severity > finding.Info {
			worst = max(worst, f.Severity)
		}
	}
	if res.Verdict != worst {
		t.Fatalf("%s: the verdict is %s, the worst finding %s", name, res.Verdict, worst)
	}
}

// eachWithout calls for a copy of the inventory without each part of its JSON.
func eachWithout(t *testing.T, inv *inventory.Inventory, call func(path string, without *inventory.Inventory)) {
	t.Helper()
	data, err := json.Marshal(inv)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		t.Fatal(err)
	}
	emit := func(path string) {
		data, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		var without inventory.Inventory
		if err := json.Unmarshal(data, &without); err != nil {
			t.Fatal(err)
		}
		call(path, &without)
	}
	walk(tree, "", emit)
}

func walk(node any, path string, emit func(string)) {
	switch n := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			if slices.Contains([]string{"at", "evidence", "read"}, key) {
				continue // no rule goes by them, or TestNothingMissingPasses does
			}
			value := n[key]
			delete(n, key)
			emit(path + "." + key)
			n[key] = value
			walk(value, path+"."+key, emit)
		}
	case []any:
		for i, value := range n {
			n[i] = map[string]any{}
			if _, isText := value.(string); isText {
				n[i] = ""
			}
			emit(fmt.Sprintf("%s[%d]", path, i))
			n[i] = value
			walk(value, fmt.Sprintf("%s[%d]", path, i), emit)
		}
	}
}
