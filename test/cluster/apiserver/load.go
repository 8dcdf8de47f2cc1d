package apiserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/winbake/winbake/test/support/kubeclient"
)

// Load creates the objects of YAML files as they are there, status
// included, and the namespaces that they need. Files may hold several
// documents and Lists; kinds of OpenShift need InstallOpenShift first.
func (s *Server) Load(t testing.TB, files ...string) {
	t.Helper()
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.load(t.Context(), src); err != nil {
			t.Fatalf("load %s: %v", file, err)
		}
	}
}

// LoadText is Load for YAML that is in the test.
func (s *Server) LoadText(t testing.TB, src string) {
	t.Helper()
	if err := s.load(t.Context(), []byte(src)); err != nil {
		t.Fatalf("load: %v", err)
	}
}

// loader creates objects.
type loader struct {
	typed   *kubeclient.Set
	dynamic dynamic.Interface
	mapper  meta.RESTMapper
}

func (s *Server) load(ctx context.Context, src []byte) error {
	objects, err := documents(src)
	if err != nil {
		return err
	}
	l := loader{}
	if l.typed, err = kubeclient.New(s.Config); err != nil {
		return err
	}
	if l.dynamic, err = dynamic.NewForConfig(s.Config); err != nil {
		return err
	}
	groups, err := restmapper.GetAPIGroupResources(l.typed.Discovery())
	if err != nil {
		return err
	}
	l.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	for _, o := range objects {
		if err := l.create(ctx, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}

// documents takes YAML documents and Lists apart.
func documents(src []byte) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	d := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(src), 4<<10)
	for {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		switch {
		case len(o.Object) == 0:
		case o.IsList():
			err := o.EachListItem(func(item runtime.Object) error {
				out = append(out, item.(*unstructured.Unstructured))
				return nil
			})
			if err != nil {
				return nil, err
			}
		default:
			out = append(out, o)
		}
	}
}

func (l *loader) create(ctx context.Context, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	mapping, err := l.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return err
	}
	resource := dynamic.ResourceInterface(l.dynamic.Resource(mapping.Resource))
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		namespace := strings.TrimSpace(o.GetNamespace())
		if namespace == "" {
			namespace = corev1.NamespaceDefault
		}
		if err := makeNamespace(ctx, l.typed, namespace); err != nil {
			return err
		}
		resource = l.dynamic.Resource(mapping.Resource).Namespace(namespace)
	}
	o.SetResourceVersion("")
	made, err := resource.Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) && gvk.Kind == "Namespace" {
		o.SetResourceVersion("")
		_, err = resource.Update(ctx, o, metav1.UpdateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	return writeStatus(ctx, resource, made, o)
}

// writeStatus writes the status where it is a subresource: there Create has
// left it out.
func writeStatus(ctx context.Context, resource dynamic.ResourceInterface, made, want *unstructured.Unstructured) error {
	status, given := want.Object["status"]
	if !given {
		return nil
	}
	made.Object["status"] = status
	_, err := resource.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil // no such subresource
	}
	return err
}

func makeNamespace(ctx context.Context, client *kubeclient.Set, name string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
