package states

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// server is one API server for all states, which are loaded into it one after the
// other, and a proxy before it.
//
// The proxy tells the Kubernetes version that the state's release has: the server
// is of one version for all.
type server struct {
	*apiserver.Server
	typed      *kubeclient.Set
	any        dynamic.Interface
	proxy      *httptest.Server
	kubeconfig string
	// plays is where calls of oc are answered.
	plays string
	// version is the API server's, as the release has it.
	version string
	// state is the one that is loaded.
	state *state
	// release is the control plane's, follows whether WMCO may go on to it, followed
	// the one that it is at.
	release, followed string
	follows           bool
	// refusing has every update of the cluster refused.
	refusing bool
	// held are nodes that WMCO holds.
	held map[string]bool
	// played counts the calls of oc that were.
	played map[string]int
}

// custom kinds, with the short names that oc knows.
var kinds = []struct {
	group, version, plural, kind, short string
	namespaced                          bool
}{
	{"config.openshift.io", "v1", "clusterversions", "ClusterVersion", "", false},
	{"config.openshift.io", "v1", "infrastructures", "Infrastructure", "", false},
	{"config.openshift.io", "v1", "clusteroperators", "ClusterOperator", "co", false},
	{"operator.openshift.io", "v1", "storages", "Storage", "", false},
	{"operator.openshift.io", "v1", "clustercsidrivers", "ClusterCSIDriver", "", false},
	{"operators.coreos.com", "v1alpha1", "clusterserviceversions", "ClusterServiceVersion", "csv", true},
	{"operators.coreos.com", "v1alpha1", "subscriptions", "Subscription", "sub", true},
	{"operators.coreos.com", "v1alpha1", "installplans", "InstallPlan", "ip", true},
	{"packages.operators.coreos.com", "v1", "packagemanifests", "PackageManifest", "", true},
	{"machineconfiguration.openshift.io", "v1", "machineconfigpools", "MachineConfigPool", "mcp", false},
}

func startServer(t *testing.T) *server {
	t.Helper()
	s := &server{Server: apiserver.Start(t), played: map[string]int{}}
	var files []string
	for _, k := range kinds {
		scope, short := "Cluster", "[]"
		if k.namespaced {
			scope = "Namespaced"
		}
		if k.short != "" {
			short = "[" + k.short + "]"
		}
		file := filepath.Join(t.TempDir(), k.plural+".yaml")
		write(t, file, fmt.Appendf(nil, `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[3]s.%[1]s}
spec:
  group: %[1]s
  scope: %[5]s
  names: {kind: %[4]s, plural: %[3]s, singular: %[7]s, shortNames: %[6]s}
  versions:
    - name: %[2]s
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, k.group, k.version, k.plural, k.kind, scope, short, strings.ToLower(k.kind)))
		files = append(files, file)
	}
	s.InstallKinds(t, files...)
	var err error
	if s.typed, err = kubeclient.New(s.Config); err != nil {
		t.Fatal(err)
	}
	if s.any, err = dynamic.NewForConfig(s.Config); err != nil {
		t.Fatal(err)
	}
	s.startProxy(t)
	s.plays = s.listen(t)
	return s
}

func (s *server) startProxy(t *testing.T) {
	t.Helper()
	to, err := url.Parse(s.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: transport, FlushInterval: -1, ModifyResponse: s.tellVersion,
	}
	s.proxy = httptest.NewServer(forward)
	t.Cleanup(s.proxy.Close)
	s.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	write(t, s.kubeconfig, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
`, s.proxy.URL))
}

// tellVersion puts the release's Kubernetes into the server's answer.
func (s *server) tellVersion(r *http.Response) error {
	if r.Request.URL.Path != "/version" {
		return nil
	}
	var info map[string]any
	if err := json.NewDecoder(r.Body).Decode(&info); err != nil {
		return err
	}
	info["gitVersion"] = s.version
	text, err := json.Marshal(info)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	r.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return err
}

// resources are what states are made of, and what bake's folders have.
var resources = append([]schema.GroupVersionResource{
	{Version: "v1", Resource: "pods"}, {Group: "apps", Version: "v1", Resource: "daemonsets"}, {Group: "apps", Version: "v1", Resource: "controllerrevisions"},
	{Version: "v1", Resource: "persistentvolumeclaims"}, {Version: "v1", Resource: "persistentvolumes"}, {Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "serviceaccounts"}, {Version: "v1", Resource: "secrets"}, {Version: "v1", Resource: "nodes"}, {Version: "v1", Resource: "namespaces"},
	{Group: "storage.k8s.io", Version: "v1", Resource: "csinodes"}, {Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "rolebindings"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "roles"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterrolebindings"}, {Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
}, customResources()...)

func customResources() []schema.GroupVersionResource {
	var list []schema.GroupVersionResource
	for _, k := range kinds {
		list = append(list, schema.GroupVersionResource{Group: k.group, Version: k.version, Resource: k.plural})
	}
	return list
}

// all lists everything that isn't the server's own.
func (s *server) all(t *testing.T) []unstructured.Unstructured {
	t.Helper()
	var list []unstructured.Unstructured
	for _, r := range resources {
		items, err := s.any.Resource(r).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range items.Items {
			if !ownByServer(&o) {
				list = append(list, o)
			}
		}
	}
	return list
}

// ownByServer tells of what an API server makes by itself.
func ownByServer(o *unstructured.Unstructured) bool {
	_, bootstrap := o.GetLabels()["kubernetes.io/bootstrapping"]
	return bootstrap || o.GetName() == "kube-root-ca.crt" || strings.HasPrefix(o.GetName(), "extension-apiserver-authentication") ||
		strings.HasPrefix(o.GetName(), "kube-apiserver-legacy-service-account-token-tracking")
}

// load replaces what is in the server by a state.
func (s *server) load(t *testing.T, st *state) {
	t.Helper()
	s.clear(t)
	s.state, s.version = st, since[minor(st.cluster.release)].kubelet
	s.release, s.followed, s.follows, s.held = st.cluster.release, st.cluster.release, false, nil
	ctx := t.Context()
	var objects, spaces []*unstructured.Unstructured
	seen := map[string]bool{} // what a state has of its own is last
	for _, o := range slices.Backward(unstructuredOf(t, st.cluster.objects())) {
		name := fmt.Sprint(o.GroupVersionKind(), o.GetNamespace(), o.GetName())
		if seen[name] {
			continue
		}
		seen[name] = true
		if o.GetKind() == "Namespace" {
			spaces = append(spaces, o)
			continue
		}
		objects = append(objects, o)
	}
	// The labels last: pods that are there may not be let in again. A state may have
	// objects in a namespace that isn't among its objects.
	names := map[string]bool{}
	for _, o := range objects {
		names[o.GetNamespace()] = true
	}
	for _, o := range spaces {
		names[o.GetName()] = true
	}
	delete(names, "")
	for name := range names {
		plain := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := s.typed.CoreV1().Namespaces().Create(ctx, plain, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
	}
	together(t, objects, func(o *unstructured.Unstructured) error { return s.create(ctx, o) })
	together(t, spaces, func(o *unstructured.Unstructured) error {
		_, err := s.any.Resource(resourceOf(o)).Update(ctx, o, metav1.UpdateOptions{})
		return err
	})
	if err := s.settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// together does the same with several objects at once: what takes time is that the
// server writes each down.
func together(t *testing.T, objects []*unstructured.Unstructured, do func(*unstructured.Unstructured) error) {
	t.Helper()
	var g errgroup.Group
	g.SetLimit(8)
	for _, o := range objects {
		g.Go(func() error {
			if err := do(o); err != nil {
				return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
}

// create makes an object with its status, which most kinds take apart.
func (s *server) create(ctx context.Context, o *unstructured.Unstructured) error {
	client := s.any.Resource(resourceOf(o)).Namespace(o.GetNamespace())
	made, err := client.Create(ctx, o, metav1.CreateOptions{})
	if err != nil || o.Object["status"] == nil || o.GetKind() == "CSINode" {
		return err
	}
	made.Object["status"] = o.Object["status"]
	if _, err = client.UpdateStatus(ctx, made, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
		return nil // no such subresource: it is there already
	}
	return err
}

// clear removes all, but namespaces, which lose their labels: nothing finishes
// their deletion.
func (s *server) clear(t *testing.T) {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, o := range s.all(t) {
		objects = append(objects, &o)
	}
	together(t, objects, func(o *unstructured.Unstructured) error {
		client := s.any.Resource(resourceOf(o)).Namespace(o.GetNamespace())
		if o.GetKind() == "Namespace" {
			return s.unlabel(t.Context(), client, o)
		}
		return s.remove(t.Context(), client, o)
	})
}

func (s *server) unlabel(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	if len(o.GetLabels()) == 1 && len(o.GetAnnotations()) == 0 {
		return nil
	}
	o.SetLabels(map[string]string{"kubernetes.io/metadata.name": o.GetName()})
	_, err := client.Update(ctx, o, metav1.UpdateOptions{})
	return err
}

// remove deletes an object, whatever would hold it.
func (s *server) remove(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	grace := int64(0)
	if len(o.GetFinalizers()) > 0 {
		if _, err := client.Patch(ctx, o.GetName(), types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
	}
	return client.Delete(ctx, o.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &grace})
}

func resourceOf(o *unstructured.Unstructured) schema.GroupVersionResource {
	plural := strings.ToLower(o.GetKind()) + "s"
	if o.GetKind() == "StorageClass" {
		plural = "storageclasses"
	}
	return o.GroupVersionKind().GroupVersion().WithResource(plural)
}

// jsonOf is a patch.
func jsonOf(patch fields) []byte {
	text, err := json.Marshal(patch)
	if err != nil {
		panic(err)
	}
	return text
}

func unstructuredFrom(o fields) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: o}
}

// snapshot is what is in the server: of each object what a person wrote, or with
// versions its resourceVersion.
func (s *server) snapshot(t *testing.T, versions bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, o := range s.all(t) {
		name := fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName())
		if versions {
			out[name] = o.GetResourceVersion()
			continue
		}
		for _, field := range []string{"resourceVersion", "uid", "generation", "managedFields", "creationTimestamp"} {
			unstructured.RemoveNestedField(o.Object, "metadata", field)
		}
		unstructured.RemoveNestedField(o.Object, "metadata", "annotations", "deprecated.daemonset.template.generation")
		unstructured.RemoveNestedField(o.Object, "status")
		text, err := json.Marshal(o.Object)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}
