package kube

import (
	"encoding/json"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// drivers is a catalog of the test's own: what it has to know is here to see.
func drivers() *catalog.Catalog {
	return &catalog.Catalog{Drivers: []catalog.Driver{
		{Name: "azure-disk", Provisioner: "disk.csi.azure.com", Images: []string{"kubernetes-csi/azuredisk-csi", "k8s/csi/azuredisk-csi"}, Containers: []string{"azuredisk"}, DaemonSets: []string{"csi-azuredisk-node-win"}},
		{Name: "vsphere", Provisioner: "csi.vsphere.vmware.com", Images: []string{"csi-vsphere/driver"}, Containers: []string{"vsphere-csi-node"}},
		{Name: "secrets-store", Provisioner: "secrets-store.csi.k8s.io", Folders: []string{"csi-secrets-store"}, Images: []string{"csi-secrets-store/driver"}, Containers: []string{"secrets-store"}},
		{Name: "smb", Provisioner: "smb.csi.k8s.io", Images: []string{"sig-storage/smbplugin"}, Containers: []string{"smb"}},
	}}
}

// collect reads YAML documents, given one by one.
func collect(t *testing.T, o Options, docs ...string) *Collector {
	t.Helper()
	if o.Catalog == nil {
		o.Catalog = drivers()
	}
	c := NewCollector(o)
	for _, doc := range docs {
		add(t, c, doc)
	}
	return c
}

func add(t *testing.T, c *Collector, doc string) {
	t.Helper()
	j, err := sigsyaml.YAMLToJSON([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	decode := func(into any) error { return json.Unmarshal(j, into) }
	if err := decode(&head); err != nil {
		t.Fatal(err)
	}
	if !c.Wants(head.APIVersion, head.Kind) {
		t.Fatalf("%s %s isn't wanted", head.APIVersion, head.Kind)
	}
	if err := c.Add(head.APIVersion, head.Kind, decode, nil); err != nil {
		t.Fatal(err)
	}
}

// driver is the only one that the documents make.
func driver(t *testing.T, docs ...string) inventory.Driver {
	t.Helper()
	inv := collect(t, Options{}, docs...).Inventory()
	if len(inv.Drivers) != 1 {
		t.Fatalf("%d drivers, want 1; set aside: %v", len(inv.Drivers), inv.SetAside)
	}
	return inv.Drivers[0]
}
