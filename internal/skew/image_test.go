package skew_test

import (
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/skew"
)

// image gives the Windows driver an image of that repository.
func image(repository, tag, digest string) change {
	return onWindows(func(d *inventory.Driver) {
		d.Image = inventory.Image{Reference: repository + ":" + tag, Repository: repository, Tag: tag, Digest: digest}
	})
}

// TestRemedyNamesAnImage: a change of the image names one that the project
// published, or says how a mirror gets it.
func TestRemedyNamesAnImage(t *testing.T) {
	const zero = "sha256:0000000000000000000000000000000000000000000000000000000000000000"
	for _, tc := range []struct {
		name   string
		from   string
		driver inventory.Driver
		image  change
		// want are lines of SKEW001's remedy, mustn't isn't in it.
		want   []string
		mustnt string
	}{
		{"moved to oss", "4.19", azureFile("v1.16.0"), image("mcr.microsoft.com/k8s/csi/azurefile-csi", "v1.16.0", ""),
			[]string{"driver=mcr.microsoft.com/oss/kubernetes-csi/azurefile-csi:v1.32.3"}, "k8s/csi"},
		{"moved to oss/v2", "4.21", azureFile("v1.33.3"), image("mcr.microsoft.com/oss/kubernetes-csi/azurefile-csi", "v1.33.3", ""),
			[]string{"driver=mcr.microsoft.com/oss/v2/kubernetes-csi/azurefile-csi:v1.34.1"}, "oss/kubernetes-csi"},
		{"from gcr.io to registry.k8s.io", "4.21", vsphereHostProcess("v3.5.0"), image("gcr.io/cloud-provider-vsphere/csi/release/driver", "v3.5.0", ""),
			[]string{"driver=registry.k8s.io/csi-vsphere/driver:v3.6.0"}, "gcr.io"},
		{"from a registry that is gone", "4.19", vsphere("v3.2.0"), image("gcr.io/cloud-provider-vsphere/csi/release/driver", "v3.2.0", ""),
			[]string{"driver=registry.k8s.io/csi-vsphere/driver:v3.3.1"}, "gcr.io"},
		{"the other registry of EBS", "4.19", ebs("v1.30.0"), image("registry.k8s.io/provider-aws/aws-ebs-csi-driver", "v1.30.0", ""),
			[]string{"driver=registry.k8s.io/provider-aws/aws-ebs-csi-driver:v1.39.0"}, "skopeo"},
		{"the registry of EKS", "4.19", ebs("v1.30.0"), image("602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-ebs-csi-driver", "v1.30.0", ""),
			[]string{"driver=public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.39.0"}, "skopeo copy"},
		{"the project's builds for tests", "4.19", vsphere("v3.2.0"), image("gcr.io/cloud-provider-vsphere/csi/ci/driver", "v3.2.0", ""),
			[]string{"driver=registry.k8s.io/csi-vsphere/driver:v3.3.1"}, "gcr.io"},
		{"a mirror", "4.19", ebs("v1.30.0"), image("mirror.example:5000/ebs", "v1.30.0", ""),
			[]string{"skopeo copy --all docker://public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver:v1.39.0 docker://mirror.example:5000/ebs:v1.39.0", "driver=mirror.example:5000/ebs:v1.39.0"}, "DIGEST"},
		{"a mirror by digest", "4.19", ebs("v1.30.0"), image("mirror.example:5000/ebs", "", zero),
			[]string{"skopeo copy --all docker://public.ecr.aws", "driver=mirror.example:5000/ebs:v1.39.0@\"${DIGEST:?}\""}, "driver=mirror.example:5000/ebs@"},
		{"a mirror by tag and digest", "4.19", ebs("v1.30.0"), image("mirror.example:5000/ebs", "v1.30.0", zero),
			[]string{"driver=mirror.example:5000/ebs:v1.39.0@\"${DIGEST:?}\""}, "driver=mirror.example:5000/ebs@"},
		{"the project's by digest", "4.19", ebs("v1.30.0"), image("public.ecr.aws/ebs-csi-driver/aws-ebs-csi-driver", "", zero),
			[]string{"aws-ebs-csi-driver:v1.39.0@\"${DIGEST:?}\""}, "copy"},
		{"not every version was published", "4.20", windowsDriver("gcp-pd", "pd.csi.storage.gke.io", "v1.18.0", "disk-v1", "filesystem-v1", "volume-v1"), image("registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver", "v1.18.0", ""),
			[]string{"skopeo inspect --raw docker://registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.20.0", "driver=registry.k8s.io"}, "copy"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inv := clusterOf(tc.from, "", tc.driver)
			tc.image(inv)
			fs := ofRule(evaluate(t, inv, skew.Request{From: tc.from}), "SKEW001")
			if len(fs) != 1 {
				t.Fatal(show(fs))
			}
			for _, want := range tc.want {
				if !strings.Contains(told(fs[0]), want) {
					t.Errorf("%q isn't in\n%s", want, told(fs[0]))
				}
			}
			if strings.Contains(told(fs[0]), tc.mustnt) {
				t.Errorf("%q is in\n%s", tc.mustnt, told(fs[0]))
			}
			typable(t, fs[0])
		})
	}
}

// TestRemedyNamesTheManifest: a remedy that names a manifest says where it
// is.
func TestRemedyNamesTheManifest(t *testing.T) {
	const want = "that bake writes, v3.5.0"
	res := evaluate(t, storageCluster("4.19", "10.19.1"), skew.Request{To: "4.20"})
	for _, f := range ofRule(res, "HP005") {
		if f.Phase == string(skew.Target) && (!strings.Contains(told(f), want) || !strings.Contains(told(f), "\noc replace -f vsphere-4.20-vsphere-windows/08-daemonset.yaml")) {
			t.Errorf("%q, or its command, isn't in\n%s", want, told(f))
		}
	}
	if text := plan(res); !strings.Contains(text, want) {
		t.Errorf("the plan doesn't say it:\n%s", text)
	}
}

// An image whose version isn't known need not change: to say its version may be enough,
// and the step says so.
func TestStepNamesWhatMayBeEnough(t *testing.T) {
	r := evaluate(t, clusterOf("4.16", "10.16.1", azureDisk("latest")), skew.Request{To: "4.17"})
	if len(r.Steps) == 0 || !strings.Contains(r.Steps[0].What, "; or say which version it is with --image-version ") {
		t.Errorf("%+v", r.Steps)
	}
}
