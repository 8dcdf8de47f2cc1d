package catalog

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/version"
)

// TestPublications are places that were looked at in the projects' repositories.
func TestPublications(t *testing.T) {
	const raw = "https://raw.githubusercontent.com/"
	for _, tc := range []struct {
		driver, version string
		hostProcess     bool
		manifest, image string
	}{
		{"vsphere", "3.5.0", true, raw + "kubernetes-sigs/vsphere-csi-driver/v3.5.0/manifests/vanilla/vsphere-csi-driver.yaml", "registry.k8s.io/csi-vsphere/driver"},
		{"vsphere", "3.5.0", false, "", ""},
		{"vsphere", "3.3.1", false, raw + "kubernetes-sigs/vsphere-csi-driver/v3.3.1/manifests/vanilla/vsphere-csi-driver.yaml", "registry.k8s.io/csi-vsphere/driver"},
		{"vsphere", "3.0.0-rc.1", false, raw + "kubernetes-sigs/vsphere-csi-driver/v3.0.0/manifests/vanilla/vsphere-csi-driver.yaml", ""},
		{"gcp-pd", "1.7.3", false, raw + "kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/v1.7.3/deploy/kubernetes/base/node_windows/node.yaml", "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver"},
		{"azure-disk", "1.16.0", false, raw + "kubernetes-sigs/azuredisk-csi-driver/v1.16.0/deploy/v1.16.0/csi-azuredisk-node-windows.yaml", "mcr.microsoft.com/k8s/csi/azuredisk-csi"},
		{"azure-disk", "1.31.11", true, raw + "kubernetes-sigs/azuredisk-csi-driver/v1.31.11/deploy/v1.31.11/csi-azuredisk-node-windows-hostprocess.yaml", "mcr.microsoft.com/oss/kubernetes-csi/azuredisk-csi"},
		{"azure-disk", "1.31.12", true, raw + "kubernetes-sigs/azuredisk-csi-driver/v1.31.12/deploy/v1.31.12/csi-azuredisk-node-windows-hostprocess.yaml", "mcr.microsoft.com/oss/v2/kubernetes-csi/azuredisk-csi"},
		{"azure-disk", "1.32.0", true, raw + "kubernetes-sigs/azuredisk-csi-driver/v1.32.0/deploy/v1.32.0/csi-azuredisk-node-windows-hostprocess.yaml", "mcr.microsoft.com/oss/kubernetes-csi/azuredisk-csi"},
		{"azure-file", "1.33.4", false, raw + "kubernetes-sigs/azurefile-csi-driver/v1.33.4/deploy/v1.33.4/csi-azurefile-node-windows.yaml", "mcr.microsoft.com/oss/v2/kubernetes-csi/azurefile-csi"},
		{"azure-file", "1.30.7", true, "", "mcr.microsoft.com/oss/kubernetes-csi/azurefile-csi"},
		{"azure-file", "1.27.0", true, "", ""},
		{"aws-ebs", "1.39.0", false, "", "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver"},
		{"aws-ebs", "1.45.0", false, raw + "kubernetes-sigs/aws-ebs-csi-driver/v1.45.0/deploy/kubernetes/base/node-windows.yaml", "public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver"},
		{"gcp-pd", "1.20.0", false, raw + "kubernetes-sigs/gcp-compute-persistent-disk-csi-driver/v1.20.0/deploy/kubernetes/base/node_windows/node.yaml", "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver"},
		{"smb", "1.18.0", true, raw + "kubernetes-csi/csi-driver-smb/v1.18.0/deploy/v1.18.0/csi-smb-node-windows-hostprocess.yaml", "registry.k8s.io/sig-storage/smbplugin"},
		{"secrets-store", "1.4.0", false, raw + "kubernetes-sigs/secrets-store-csi-driver/v1.4.0/deploy/secrets-store-csi-driver-windows.yaml", "registry.k8s.io/csi-secrets-store/driver"},
		{"trident", "26.06.0", false, "", ""},
	} {
		v := version.MustDriver(tc.version)
		p := load(t).Driver(tc.driver).Publication(v, tc.hostProcess)
		if p == nil {
			p = &Publication{Manifest: unseen}
		}
		if p.ManifestURL(v) != tc.manifest || p.Repository != tc.image {
			t.Errorf("%s %s, HostProcess %t: %q of %q\nwant %q of %q", tc.driver, tc.version, tc.hostProcess, p.ManifestURL(v), p.Repository, tc.manifest, tc.image)
		}
	}
}

// TestShippedIsPublished: what a release of OpenShift ships can be had for
// Windows too, in each way that its line runs.
func TestShippedIsPublished(t *testing.T) {
	c := load(t)
	for _, r := range c.Releases {
		for name, rows := range r.Drivers {
			d := c.Driver(name)
			for _, row := range rows {
				v, err := version.ParseDriver(row.Version)
				line := d.Line(v)
				if err != nil || line == nil {
					continue // unknown, or from before it ran on Windows
				}
				if p := d.Publication(v, true); p == nil && (line.HostProcess == HostProcessMandatory || line.HostProcess == HostProcessDefault) {
					t.Errorf("OpenShift %s: no HostProcess manifest of %s %s", r.OpenShift, name, v)
				}
				if p := d.Publication(v, false); p == nil && line.HostProcess != HostProcessMandatory && v.Compare(version.MustDriver("1.2.0")) >= 0 {
					t.Errorf("OpenShift %s: no manifest of %s %s for csi-proxy", r.OpenShift, name, v)
				}
			}
		}
	}
}

// TestOwnRepositories: a repository that the catalog names for a version is one
// by which the driver is known.
func TestOwnRepositories(t *testing.T) {
	c := load(t)
	for i := range c.Drivers {
		d := &c.Drivers[i]
		for _, p := range d.Published {
			if p.Repository == "" && p.Deploys == "" && len(p.Former) == 0 {
				t.Errorf("%s %s: no repository", d.Name, p.From)
			}
			for _, gone := range p.Former {
				if !d.Publishes(gone) || p.Holds(gone) {
					t.Errorf("%s isn't known to have been %s", gone, d.Name)
				}
			}
			if p.Repository != "" && !d.Publishes(p.Repository) {
				t.Errorf("%s isn't known to be %s", p.Repository, d.Name)
			}
		}
		if d.Publishes("mirror.example.com/x/driver") || d.Publishes("") {
			t.Errorf("%s publishes in a mirror", d.Name)
		}
	}
}

// TestOfVendor: a mirror may be in a registry that others have too.
func TestOfVendor(t *testing.T) {
	d := load(t).Driver("aws-ebs")
	for repository, want := range map[string]bool{
		"602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-ebs-csi-driver":     true,
		"918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn/eks/aws-ebs-csi-driver": true,
		"123456789012.dkr.ecr.us-west-2.amazonaws.com/eks/aws-ebs-csi-driver":     false,
		"public.ecr.aws/eks/aws-ebs-csi-driver":                                   true,
		"public.ecr.aws/acme/aws-ebs-csi-driver":                                  false,
		"gcr.io/gke-release/gcp-compute-persistent-disk-csi-driver":               true,
		"gcr.io/cloud-provider-vsphere/csi/ci/driver":                             true,
		"us.gcr.io/k8s-artifacts-prod/csi-secrets-store/driver":                   true,
		"gcr.io/k8s-staging-sig-storage/smbplugin":                                true,
		"gcr.io/acme/driver":                                                          false,
		"k8s.gcr.io/provider-aws/aws-ebs-csi-driver":                                  true,
		"mcr.microsoft.com/oss/other/driver":                                          true,
		"mirror.example/registry.k8s.io/csi-vsphere/driver":                           false,
		"registry.k8s.io.example/csi-vsphere/driver":                                  false,
		"quay.io/acme/csi-node-driver-registrar":                                      false,
		"registry.redhat.io/openshift4/ose-csi-node-driver-registrar":                 true,
		"registry.connect.redhat.com/netapp/trident":                                  true,
		"602401143452.dkr.ecr.us-west-2.amazonaws.com.example/eks/aws-ebs-csi-driver": false,
		"": false,
	} {
		if OfVendor(repository) != want || d.Publishes(repository) != want {
			t.Errorf("%s: %t", repository, !want)
		}
	}
}

// TestRenderCommand: a project without a manifest has a command that makes it.
func TestRenderCommand(t *testing.T) {
	d, v := load(t).Driver("aws-ebs"), version.MustDriver("1.34.0")
	for hostProcess, want := range map[bool]string{false: "--set node.enableWindows=true --set image.tag=v1.34.0", true: "--set node.windowsHostProcess=true --set image.tag=v1.34.0"} {
		if got := d.Publication(v, hostProcess).RenderCommand(v); !strings.Contains(got, want) || strings.Contains(got, "{{") {
			t.Errorf("HostProcess %t: %s", hostProcess, got)
		}
	}
}

// TestGone: the next version that can be had is told of images that can't.
func TestGone(t *testing.T) {
	c := load(t)
	for _, row := range []struct {
		driver, version, next string
		gone                  bool
	}{
		{"vsphere", "3.0.2", "3.1.2", true},
		{"vsphere", "2.4.0", "3.1.2", true},
		{"vsphere", "3.1.2", "", false},
		{"vsphere", "1.0.0", "", false}, // not in the catalog
		{"azure-disk", "1.29.2", "", false},
	} {
		if next, gone := c.Driver(row.driver).Gone(version.MustDriver(row.version), false); next != row.next || gone != row.gone {
			t.Errorf("%s %s: %q, %v", row.driver, row.version, next, gone)
		}
	}
}
