package apiserver

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/test/support/await"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// Kind is a kind that the server doesn't know of itself. Its schema says nothing:
// any content is taken.
type Kind struct {
	Resource   schema.GroupVersionResource
	Name       string
	Namespaced bool
}

// openShift are the kinds of OpenShift and of its Operator Lifecycle Manager
// that the product knows.
var openShift = []Kind{
	{schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}, "ClusterVersion", false},
	{schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}, "Infrastructure", false},
	{schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "storages"}, "Storage", false},
	{schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"}, "ClusterCSIDriver", false},
	{schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}, "MachineConfigPool", false},
	{schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}, "ClusterServiceVersion", true},
}

var crds = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// InstallOpenShift makes the server know ClusterVersion, Infrastructure,
// Storage, ClusterCSIDriver, MachineConfigPool and ClusterServiceVersion, with any content. They
// have no status subresource: a status is written with the rest.
func (s *Server) InstallOpenShift(t testing.TB) {
	t.Helper()
	s.Install(t, openShift...)
}

// Install makes the server know kinds. They have no status subresource.
func (s *Server) Install(t testing.TB, kinds ...Kind) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		if _, err := client.Resource(crds).Create(t.Context(), k.definition(), metav1.CreateOptions{}); err != nil {
			t.Fatalf("install %s: %v", k.Name, err)
		}
	}
	for _, k := range kinds {
		s.awaitServed(t, k.Resource)
	}
}

// InstallKinds makes the server know the kinds of CustomResourceDefinition files,
// each with the one version that it serves.
func (s *Server) InstallKinds(t testing.TB, files ...string) {
	t.Helper()
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Spec struct {
				Group    string
				Names    struct{ Plural string }
				Versions []struct{ Name string }
			}
		}
		if err := yaml.Unmarshal(src, &d); err != nil || len(d.Spec.Versions) == 0 {
			t.Fatalf("%s: %v, or no version", file, err)
		}
		s.Load(t, file)
		gvr := schema.GroupVersionResource{Group: d.Spec.Group, Version: d.Spec.Versions[0].Name, Resource: d.Spec.Names.Plural}
		s.awaitServed(t, gvr)
	}
}

func (k Kind) definition() *unstructured.Unstructured {
	scope := "Cluster"
	if k.Namespaced {
		scope = "Namespaced"
	}
	anything := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{
			"name": k.Resource.GroupResource().String(),
		},
		"spec": map[string]any{
			"group": k.Resource.Group, "scope": scope,
			"names": map[string]any{"kind": k.Name, "plural": k.Resource.Resource},
			"versions": []any{map[string]any{
				"name": k.Resource.Version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": anything},
			}},
		},
	}}
}

// awaitServed waits until the server answers for a resource, and tells of it
// where clients look for kinds. It may do either first.
func (s *Server) awaitServed(t testing.TB, gvr schema.GroupVersionResource) {
	t.Helper()
	typed, err := kubeclient.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "the server serves "+gvr.String(), func() bool {
		if _, err := client.Resource(gvr).List(t.Context(), metav1.ListOptions{Limit: 1}); err != nil {
			return false
		}
		groups, err := restmapper.GetAPIGroupResources(typed.Discovery())
		if err != nil {
			return false
		}
		_, err = restmapper.NewDiscoveryRESTMapper(groups).KindFor(gvr)
		return err == nil
	})
}
