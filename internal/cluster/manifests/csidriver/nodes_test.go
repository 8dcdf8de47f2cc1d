package csidriver_test

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
)

// TestAzureDiskOnWMCONodes: no node of WMCO's has the cloud's configuration, so
// that the driver must ask the node's labels, which its account may read.
func TestAzureDiskOnWMCONodes(t *testing.T) {
	cat := load(t)
	tried := 0
	for _, r := range releases(cat) {
		for _, mode := range []csidriver.Mode{csidriver.Pipes, csidriver.HostProcess} {
			folder, err := csidriver.Render(cat, csidriver.Options{Driver: "azure-disk", For: release(t, r), Mode: mode})
			if err != nil {
				continue // TestServed has the reason
			}
			tried++
			c := driverContainer(t, &daemonSet(t, folder).Spec.Template.Spec, cat.Driver("azure-disk"))
			if !slices.Contains(c.Args, "--get-node-info-from-labels=true") {
				t.Errorf("%s, %s: %v", r, mode, c.Args)
			}
			// A HostProcess container of containerd 1.6 doesn't find its account's token.
			kubelets := slices.Contains(c.Args, `--kubeconfig=C:\\k\\kubeconfig`)
			if want := mode == csidriver.HostProcess && (r == "4.12" || r == "4.13"); kubelets != want {
				t.Errorf("%s, %s: %v", r, mode, c.Args)
			}
			caution := slices.ContainsFunc(folder.Notes, func(n string) bool { return strings.Contains(n, "reports no zone") })
			if caution != (r == "4.12") {
				t.Errorf("%s, %s: %v", r, mode, folder.Notes)
			}
		}
	}
	if tried != 32 {
		t.Errorf("%d folders were tried", tried)
	}
}

// TestNoPathOfAKS: C:\k\config is there on AKS' nodes alone.
func TestNoPathOfAKS(t *testing.T) {
	cat := load(t)
	for _, driver := range csidriver.Drivers() {
		for _, r := range releases(cat) {
			for _, mode := range []csidriver.Mode{csidriver.Pipes, csidriver.HostProcess} {
				folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, r), Mode: mode, Windows: "2019"})
				if err != nil {
					continue // TestServed has the reason
				}
				for _, f := range folder.Files {
					if strings.Contains(string(f.Data), `\k\\config`) {
						t.Errorf("%s for %s, %s: %s names it", driver, r, mode, f.Name)
					}
				}
			}
		}
	}
}

// TestRightsOfTheAccount: in OpenShift's namespace the pod's account is
// OpenShift's, and gets what the pod needs besides, to read and no more; in
// another it gets all.
func TestRightsOfTheAccount(t *testing.T) {
	cat := load(t)
	for driver, want := range map[string]bool{"aws-ebs": true, "azure-disk": true, "azure-file": false, "vsphere": false, "smb": false, "gcp-pd": false} {
		for _, namespace := range []string{csidriver.OperatorNamespace, "own"} {
			folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: release(t, "4.20"), Namespace: namespace})
			if err != nil {
				t.Fatal(err)
			}
			role, bound := rights(t, folder)
			if has := role != nil; has != (want || namespace == "own") || has != bound {
				t.Errorf("%s in %s: a role %v, bound: %t", driver, namespace, role, bound)
			}
			if role == nil || namespace == "own" {
				continue
			}
			if !slices.ContainsFunc(role.Rules, func(r rbacv1.PolicyRule) bool {
				return slices.Contains(r.Resources, "nodes") && slices.Contains(r.Verbs, "get")
			}) {
				t.Errorf("%s: the node can't be read: %v", driver, role.Rules)
			}
			for _, rule := range role.Rules {
				if slices.Contains(rule.Resources, "secrets") || slices.ContainsFunc(rule.Verbs, func(v string) bool { return v != "get" && v != "list" && v != "watch" }) {
					t.Errorf("%s: OpenShift's account would get %v", driver, rule)
				}
			}
		}
	}
}

// rights are a folder's ClusterRole, nil for none, and whether the pod's account
// has it.
func rights(t *testing.T, folder *csidriver.Folder) (role *rbacv1.ClusterRole, bound bool) {
	t.Helper()
	ds := daemonSet(t, folder)
	for _, f := range folder.Files {
		switch f.Name {
		case "04-role.yaml":
			role = &rbacv1.ClusterRole{}
			if err := yaml.UnmarshalStrict(f.Data, role); err != nil {
				t.Fatal(err)
			}
		case "05-role-binding.yaml":
			var b rbacv1.ClusterRoleBinding
			if err := yaml.UnmarshalStrict(f.Data, &b); err != nil {
				t.Fatal(err)
			}
			account := rbacv1.Subject{Kind: "ServiceAccount", Name: ds.Spec.Template.Spec.ServiceAccountName, Namespace: ds.Namespace}
			bound = role != nil && b.RoleRef.Name == role.Name && slices.Equal(b.Subjects, []rbacv1.Subject{account})
		}
	}
	return role, bound
}

// TestGoneImages: what can't be pulled any more isn't written, the note says so,
// and a registry that is frozen isn't named.
func TestGoneImages(t *testing.T) {
	cat := load(t)
	for _, tc := range []struct{ driver, release, image, note string }{
		{"vsphere", "4.14", "registry.k8s.io/csi-vsphere/driver:v3.1.2", "v3.0.2 is gone"},
		{"vsphere", "4.15", "registry.k8s.io/csi-vsphere/driver:v3.1.2", "v3.0.2 is gone"},
		{"vsphere", "4.16", "registry.k8s.io/csi-vsphere/driver:v3.1.2", ""},
		{"gcp-pd", "4.12", "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.7.3", ""},
		{"gcp-pd", "4.13", "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.8.2", ""},
		{"gcp-pd", "4.14", "registry.k8s.io/cloud-provider-gcp/gcp-compute-persistent-disk-csi-driver:v1.10.1", ""},
	} {
		folder, err := csidriver.Render(cat, csidriver.Options{Driver: tc.driver, For: release(t, tc.release), Windows: "2019"})
		if err != nil {
			t.Fatal(err)
		}
		c := driverContainer(t, &daemonSet(t, folder).Spec.Template.Spec, cat.Driver(tc.driver))
		notes := strings.Join(folder.Notes, "\n")
		if c.Image != tc.image || !strings.Contains(notes, tc.note) || tc.note == "" && strings.Contains(notes, "gone") {
			t.Errorf("%s for %s: %s; %s", tc.driver, tc.release, c.Image, notes)
		}
	}
}
