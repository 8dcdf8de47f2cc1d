// Package csidriver_test applies what `bake manifests csi-driver` writes to a
// real API server. It has no code of its own.
package csidriver_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/version"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/manifests/csidriver"
	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// cluster is an API server with the namespace that OpenShift has.
type cluster struct {
	typed   *kubeclient.Set
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
}

func start(t *testing.T) *cluster {
	t.Helper()
	s := apiserver.Start(t)
	s.LoadText(t, `
apiVersion: v1
kind: Namespace
metadata:
  name: openshift-cluster-csi-drivers
  labels: {pod-security.kubernetes.io/enforce: privileged}
---
apiVersion: v1
kind: Namespace
metadata:
  name: restricted
  labels: {pod-security.kubernetes.io/enforce: baseline}
---
apiVersion: v1
kind: Namespace
metadata: {name: windows-storage-test}
`)
	typed, err := kubeclient.New(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(typed.Discovery())
	if err != nil {
		t.Fatal(err)
	}
	d, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{typed: typed, dynamic: d, mapper: restmapper.NewDiscoveryRESTMapper(groups)}
}

// create makes an object, or with dry all but stores it. Fields that the server
// doesn't know are an error.
func (c *cluster) create(t *testing.T, text []byte, dry bool) error {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal(text, &o.Object); err != nil {
		t.Fatal(err)
	}
	kind := o.GroupVersionKind()
	m, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatal(err)
	}
	options := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	if dry {
		options.DryRun = []string{metav1.DryRunAll}
	}
	var to dynamic.ResourceInterface = c.dynamic.Resource(m.Resource)
	if m.Scope.Name() == meta.RESTScopeNameNamespace {
		to = c.dynamic.Resource(m.Resource).Namespace(o.GetNamespace())
	}
	_, err = to.Create(t.Context(), &o, options)
	return err
}

// pod submits a DaemonSet's template as the pod that its controller would make:
// Pod Security only warns about a DaemonSet.
func (c *cluster) pod(t *testing.T, text []byte, namespace string) error {
	t.Helper()
	var ds appsv1.DaemonSet
	if err := yaml.UnmarshalStrict(text, &ds); err != nil {
		t.Fatal(err)
	}
	pod := &corev1.Pod{ObjectMeta: ds.Spec.Template.ObjectMeta, Spec: ds.Spec.Template.Spec}
	pod.Name = "as-a-pod"
	if namespace == "" {
		namespace = ds.Namespace
	}
	_, err := c.typed.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

func render(cat *catalog.Catalog, driver, release, mode, namespace string) (*csidriver.Folder, error) {
	v, err := version.ParseOpenShift(release)
	if err != nil {
		return nil, err
	}
	return csidriver.Render(cat, csidriver.Options{Driver: driver, For: v, Mode: csidriver.Mode(mode), Windows: "2022", Namespace: namespace})
}

func TestAPIServerTakesThem(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t)
	pods := 0
	for _, driver := range csidriver.Drivers() {
		for _, r := range cat.Releases {
			for _, patch := range []string{"", ".10", ".30"} {
				for _, mode := range []string{"pipes", "hostprocess"} {
					folder, err := render(cat, driver, r.OpenShift+patch, mode, "")
					if err != nil {
						continue // TestServed has the reason
					}
					pods++
					c.takes(t, folder, fmt.Sprintf("%s for %s%s, %s", driver, r.OpenShift, patch, mode))
				}
			}
		}
	}
	if pods < 100 {
		t.Errorf("only %d folders were tried", pods)
	}
}

// Images of the release's own commits are by digest, in each container that has one.
func TestAPIServerTakesOwnImages(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t)
	image := func(name string) string { return "quay.io/me/" + name + "@sha256:" + strings.Repeat("1", 64) }
	built := 0
	for _, driver := range csidriver.Drivers() {
		for _, h := range cat.Build(driver).Heads {
			v, err := version.ParseOpenShift(h.OpenShift + ".30") // the head is its newest patch's
			if err != nil {
				t.Fatal(err)
			}
			folder, err := csidriver.Render(cat, csidriver.Options{Driver: driver, For: v, Mode: csidriver.Auto, Windows: "2022",
				Image: image(driver), Registrar: image("node-driver-registrar"), Probe: image("livenessprobe")})
			if err != nil {
				t.Errorf("%s for %s: %v", driver, h.OpenShift, err)
				continue
			}
			built++
			name := driver + " for " + h.OpenShift
			c.takes(t, folder, name)
			for _, f := range folder.Files {
				for _, i := range []string{driver, "node-driver-registrar", "livenessprobe"} {
					if strings.Contains(f.Name, "daemonset") && !bytes.Contains(f.Data, []byte(image(i))) && !(i == "livenessprobe" && !bytes.Contains(f.Data, []byte("livenessprobe"))) {
						t.Errorf("%s: %s doesn't have %s", name, f.Name, image(i))
					}
				}
			}
		}
	}
	if built < 50 {
		t.Errorf("only %d folders were tried", built)
	}
}

// takes submits all of a folder.
func (c *cluster) takes(t *testing.T, folder *csidriver.Folder, name string) {
	t.Helper()
	for _, f := range folder.Files {
		if err := c.create(t, f.Data, true); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Errorf("%s: %s: %v", name, f.Name, err)
		}
		if !strings.Contains(f.Name, "daemonset") {
			continue
		}
		if err := c.pod(t, f.Data, ""); err != nil {
			t.Errorf("%s: its pod: %v", name, err)
		}
		// What the namespace's level is for: without it no pod would come.
		if err := c.pod(t, f.Data, "restricted"); !apierrors.IsForbidden(err) {
			t.Errorf("%s: a namespace at baseline takes the pod: %v", name, err)
		}
	}
}

// TestOwnNamespace applies whole folders for good, in their order, where
// nothing of OpenShift's is there.
func TestOwnNamespace(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t)
	for _, driver := range csidriver.Drivers() {
		folder, err := render(cat, driver, "4.20", "auto", "own-"+driver)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range folder.Files {
			err := c.create(t, f.Data, false)
			if err != nil && (!apierrors.IsAlreadyExists(err) || !strings.Contains(f.Name, "/10-namespace")) {
				t.Errorf("%s: %s: %v", driver, f.Name, err)
			}
			if strings.Contains(f.Name, "daemonset") {
				if err := c.pod(t, f.Data, ""); err != nil {
					t.Errorf("%s: its pod: %v", driver, err)
				}
			}
		}
	}
}

// TestAPIServerRefuses holds the tests above to be able to fail: the server
// knows a misspelt field, and a HostProcess pod that isn't on the host's
// network.
func TestAPIServerRefuses(t *testing.T) {
	cat, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c := start(t)
	folder, err := render(cat, "vsphere", "4.20", "auto", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folder.Files {
		if !strings.Contains(f.Name, "daemonset") {
			continue
		}
		for _, change := range [][2]string{{"hostProcess: true", "hostproces: true"}, {"hostNetwork: true", "hostNetwork: false"}, {"os:\n        name: windows", "os:\n        name: linux"}} {
			changed := bytes.ReplaceAll(f.Data, []byte(change[0]), []byte(change[1]))
			if bytes.Equal(changed, f.Data) {
				t.Errorf("%s isn't in %s", change[0], f.Name)
			} else if err := c.create(t, changed, true); err == nil {
				t.Errorf("the server takes %s", change[1])
			}
		}
	}
}
