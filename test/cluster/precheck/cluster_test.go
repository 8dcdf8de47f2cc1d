package precheck_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/winbake/winbake/internal/cluster/manifests/object"
	manifests "github.com/winbake/winbake/internal/cluster/manifests/precheck"
	"github.com/winbake/winbake/test/cluster/apiserver"
)

const (
	example   = "../../../examples/cluster-4.19-vsphere"
	openShift = "../testdata/openshift.yaml"
	image     = "registry.example.com/winbake-verify@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
)

// openShiftCluster is an OpenShift cluster on vSphere that has all that is read,
// and Prometheus' operator.
func openShiftCluster(t *testing.T) *apiserver.Server {
	t.Helper()
	s := apiserver.Start(t)
	s.InstallOpenShift(t)
	s.InstallKinds(t, monitoringKinds(t)...)
	s.Load(t, openShift, example+"/driver.yaml", example+"/nodes.yaml", example+"/workload.yaml")
	acknowledge(t, s)
	return s
}

// acknowledge gives the acknowledgement that the cluster waits for, and has the
// condition follow, as the operator of the version does.
func acknowledge(t *testing.T, s *apiserver.Server) {
	t.Helper()
	a := newApplier(t, s)
	gates, err := a.typed.CoreV1().ConfigMaps("openshift-config-managed").Get(t.Context(), "admin-gates", metav1.GetOptions{})
	must(t, err)
	acks, err := a.typed.CoreV1().ConfigMaps("openshift-config").Get(t.Context(), "admin-acks", metav1.GetOptions{})
	must(t, err)
	for key := range gates.Data {
		acks.Data[key] = "true"
	}
	_, err = a.typed.CoreV1().ConfigMaps(acks.Namespace).Update(t.Context(), acks, metav1.UpdateOptions{})
	must(t, err)
	setStatus(t, s, "conditions", []any{map[string]any{"type": "Upgradeable", "status": "True"}})
}

// monitoringKinds are the schemas of Prometheus' operator, as its own project
// publishes them, out of the module that crds pins.
func monitoringKinds(t *testing.T) []string {
	t.Helper()
	source, _, err := apiserver.Module(t.Context(), "crds", "github.com/prometheus-operator/prometheus-operator")
	must(t, err)
	dir := filepath.Join(source, "example", "prometheus-operator-crd", "monitoring.coreos.com_")
	return []string{dir + "prometheusrules.yaml"}
}

// rendered is what `bake manifests precheck` writes.
func rendered(t *testing.T) []object.File {
	t.Helper()
	folder, err := manifests.Render(manifests.Options{Image: image, To: []string{"4.20"}})
	if err != nil {
		t.Fatal(err)
	}
	return folder.Files
}

// file is the one of them with a name.
func file(t *testing.T, files []object.File, name string) []byte {
	t.Helper()
	for _, f := range files {
		if strings.Contains(f.Name, name) {
			return f.Data
		}
	}
	t.Fatalf("no file %s", name)
	return nil
}

// rights are those that the manifests grant.
func rights(t *testing.T) apiserver.Rights {
	t.Helper()
	var roles [][]byte
	for _, f := range rendered(t) {
		if strings.HasSuffix(f.Name, "-role.yaml") {
			roles = append(roles, f.Data)
		}
	}
	r, err := apiserver.ParseRights(bytes.Join(roles, []byte("\n---\n")))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cluster) == 0 || len(r.Namespaced) != 3 {
		t.Fatalf("%d rules, in %d namespaces more", len(r.Cluster), len(r.Namespaced))
	}
	return r
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// setStatus writes a field of the ClusterVersion's status.
func setStatus(t *testing.T, s *apiserver.Server, field string, value []any) {
	t.Helper()
	a := newApplier(t, s)
	resource := a.any.Resource(schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"})
	o, err := resource.Get(t.Context(), "version", metav1.GetOptions{})
	must(t, err)
	must(t, unstructured.SetNestedSlice(o.Object, value, "status", field))
	_, err = resource.Update(t.Context(), o, metav1.UpdateOptions{})
	must(t, err)
}
