package cluster_test

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/test/apiserver"
)

// gathered are the resources that `oc adm must-gather` and `oc adm inspect`
// write, of those that the product wants: cluster-scoped ones with a file for
// each object, namespaced ones with a file for each list.
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
	namespaces, err := client.Resource(gathered[2].gvr).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gathered {
		group := g.gvr.Group
		if group == "" {
			group = "core"
		}
		if !g.namespaced {
			l, err := client.Resource(g.gvr).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range l.Items {
				write(t, filepath.Join(dir, "cluster-scoped-resources", group, g.gvr.Resource, l.Items[i].GetName()+".yaml"), &l.Items[i])
			}
			continue
		}
		for i := range namespaces.Items {
			namespace := namespaces.Items[i].GetName()
			l, err := client.Resource(g.gvr).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "namespaces", namespace, group, g.gvr.Resource+".yaml"), l)
		}
	}
	return dir
}

func write(t *testing.T, file string, o interface{ UnstructuredContent() map[string]any }) {
	t.Helper()
	text, err := yaml.Marshal(o.UnstructuredContent())
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
