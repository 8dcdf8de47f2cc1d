package cluster_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/test/cluster/apiserver"
)

// gathered are the resources that `oc adm must-gather` and `oc adm inspect`
// write, of those that the product wants: cluster-scoped ones with a file for
// each object, namespaced ones with a file for each list. The list of
// namespaces is what `oc get namespaces -o yaml` adds.
var gathered = []struct {
	gvr        schema.GroupVersionResource
	namespaced bool
}{
	{schema.GroupVersionResource{Version: "v1", Resource: "nodes"}, false},
	{schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}, false},
	{schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}, false},
	{schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}, false},
	{schema.GroupVersionResource{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"}, false},
	{schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}, false},
	{schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}, false},
	{schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "storages"}, false},
	{schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"}, false},
	{schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}, false},
	{schema.GroupVersionResource{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"}, false},
	{schema.GroupVersionResource{Version: "v1", Resource: "pods"}, true},
	{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, true},
	{schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}, true},
	{schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "daemonsets"}, true},
	{schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}, true},
}

// gather writes what the server has as oc would, and returns the folder.
func gather(t *testing.T, s *apiserver.Server) string {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	namespaces, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gathered {
		all, err := client.Resource(g.gvr).List(t.Context(), metav1.ListOptions{})
		if apierrors.IsNotFound(err) {
			continue // no OpenShift
		}
		if err != nil {
			t.Fatal(err)
		}
		if g.gvr.Resource == "namespaces" {
			write(t, filepath.Join(dir, "cluster-scoped-resources", folder(g.gvr)+".yaml"), all.UnstructuredContent())
			continue
		}
		if g.namespaced {
			writeLists(t, filepath.Join(dir, "namespaces"), g.gvr, namespaces, all)
			continue
		}
		for i := range all.Items {
			write(t, filepath.Join(dir, "cluster-scoped-resources", folder(g.gvr), all.Items[i].GetName()+".yaml"), all.Items[i].Object)
		}
	}
	return dir
}

func folder(gvr schema.GroupVersionResource) string {
	return filepath.Join(cmp.Or(gvr.Group, "core"), gvr.Resource)
}

// writeLists writes a list for each namespace, if only an empty one.
func writeLists(t *testing.T, dir string, gvr schema.GroupVersionResource, namespaces, all *unstructured.UnstructuredList) {
	t.Helper()
	for i := range namespaces.Items {
		namespace := namespaces.Items[i].GetName()
		list := &unstructured.UnstructuredList{Object: all.Object}
		for _, o := range all.Items {
			if o.GetNamespace() == namespace {
				list.Items = append(list.Items, o)
			}
		}
		write(t, filepath.Join(dir, namespace, folder(gvr)+".yaml"), list.UnstructuredContent())
	}
}

func write(t *testing.T, file string, o map[string]any) {
	t.Helper()
	text, err := yaml.Marshal(o)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
