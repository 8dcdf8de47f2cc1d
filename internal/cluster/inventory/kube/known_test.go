package kube

import (
	"slices"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
)

// A repository is known by its end, however a mirror begins it.
func TestKnownImage(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	k := known{cat}
	for repository, want := range map[string]string{
		"mcr.microsoft.com/oss/v2/kubernetes-csi/azuredisk-csi":                 "azure-disk",
		"us-docker.pkg.dev/palette-images/packs/csi-azure/1.32.0/azuredisk-csi": "azure-disk",
		"mirror:5000/x/y/oss/kubernetes-csi/azurefile-csi":                      "azure-file",
		"public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver":                      "aws-ebs",
		"gke.gcr.io/gcp-compute-persistent-disk-csi-driver":                     "gcp-pd",
		"registry.k8s.io/csi-vsphere/driver":                                    "vsphere",
		"gcr.io/cloud-provider-vsphere/csi/release/driver":                      "vsphere",
		"registry.k8s.io/csi-secrets-store/driver":                              "secrets-store",
		"mirror.example/registry.k8s.io/sig-storage/SMBplugin":                  "smb",
		"docker.io/netapp/trident":                                              "trident",
		"mirror/gcr-io/driver":                                                  "",
		"driver":                                                                "",
		"registry.example/not-azuredisk-csi":                                    "",
		"registry.k8s.io/sig-storage/csi-node-driver-registrar":                 "",
		"": "",
	} {
		got := ""
		if d := k.image(repository); d != nil {
			got = d.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", repository, got, want)
		}
	}
	for i := range cat.Drivers {
		d := &cat.Drivers[i]
		for _, p := range d.Published {
			for _, repository := range append(slices.Clone(p.Former), p.Repository) {
				if repository != "" && k.image(repository) != d {
					t.Errorf("%s isn't known to be %s", repository, d.Name)
				}
			}
		}
	}
}
