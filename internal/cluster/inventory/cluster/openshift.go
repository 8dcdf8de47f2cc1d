package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

var (
	clusterVersions = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}
	infrastructures = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	csiDrivers      = schema.GroupVersionResource{Group: "operator.openshift.io", Version: "v1", Resource: "clustercsidrivers"}
	runtimeClasses  = schema.GroupVersionResource{Group: "node.k8s.io", Version: "v1", Resource: "runtimeclasses"}
	pools           = schema.GroupVersionResource{Group: "machineconfiguration.openshift.io", Version: "v1", Resource: "machineconfigpools"}
	csvs            = schema.GroupVersionResource{Group: "operators.coreos.com", Version: "v1alpha1", Resource: "clusterserviceversions"}
)

// readVersion is the first request: what is wrong with the server or with the
// credentials shows here.
func (r *reader) readVersion(ctx context.Context) error {
	var v string
	err := again(ctx, func() error {
		answer, err := r.discovery.ServerVersionWithContext(ctx)
		if err == nil {
			v = answer.GitVersion
		}
		return err
	})
	if err == nil && v == "" {
		err = errors.New("its answer names no gitVersion")
	}
	if err != nil {
		if !apierrors.IsForbidden(err) && !fatal(err) {
			err = &strangeError{err}
		}
		return r.note(access{verb: "get", resource: "/version"}, err)
	}
	r.version = v
	r.c.ServerVersion(v, inventory.Evidence{Where: r.host + "/version", Text: "gitVersion: " + v})
	return nil
}

func (r *reader) readClusterVersion(ctx context.Context) error {
	err := r.readCustom(ctx, clusterVersions, "", "version")
	if apierrors.IsNotFound(err) {
		r.c.NotOpenShift()
		err = nil
	}
	return r.cover(inventory.ClusterVersion, err)
}

func (r *reader) readInfrastructure(ctx context.Context) error {
	err := r.readCustom(ctx, infrastructures, "", "cluster")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return r.note(access{verb: "get", resource: infrastructures.GroupResource().String(), name: "cluster"}, err)
}

func (r *reader) readCustom(ctx context.Context, resource schema.GroupVersionResource, namespace, name string) error {
	return again(ctx, func() error {
		o, err := r.custom.Resource(resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		return r.take(o)
	})
}

func (r *reader) objects(of inventory.Resource, resource schema.GroupVersionResource) func(context.Context) error {
	return func(ctx context.Context) error { return r.cover(of, r.listCustom(ctx, resource)) }
}

// readRuntimeClasses reads what may bring a DaemonSet's pods to Windows. Where
// they can't be read, those DaemonSets tell so.
func (r *reader) readRuntimeClasses(ctx context.Context) error {
	if err := r.listCustom(ctx, runtimeClasses); err != nil && fatal(err) {
		return err
	}
	return nil
}

func (r *reader) listCustom(ctx context.Context, resource schema.GroupVersionResource) error {
	var failed error
	err := r.pager("", of(r.custom.Resource(resource).List), func(o metav1.Object) {
		failed = cmp.Or(failed, r.take(o.(*unstructured.Unstructured))) //nolint:forcetypeassert // the list is of them
	}).read(ctx)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return cmp.Or(err, failed)
}

// take hands on an object, as a type of k8s.io/api where there is one.
func (r *reader) take(o *unstructured.Unstructured) error {
	return r.c.Add(o.GetAPIVersion(), o.GetKind(), func(into any) error {
		if custom, ok := into.(*map[string]any); ok {
			*custom = o.Object
			return nil
		}
		return runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, into)
	}, nil)
}

// configMap reads one that a cluster needn't have.
func (r *reader) configMap(of inventory.Resource, namespace, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		err := again(ctx, func() error {
			m, err := r.core.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			if err == nil {
				kube.Take(r.c, "v1", "ConfigMap", m)
			}
			return err
		})
		if apierrors.IsNotFound(err) {
			err = nil
		}
		return r.cover(of, err)
	}
}

// readServices reads which version of WMCO there is, and in its namespace the
// lists of services.
func (r *reader) readServices(ctx context.Context) error {
	namespaces, found := r.readOperator(ctx)
	if err := r.note(access{resource: csvs.GroupResource().String()}, found); err != nil {
		return err
	}
	var err error
	for _, namespace := range namespaces {
		if err = r.readConfigMaps(ctx, namespace); err != nil {
			break
		}
	}
	if err == nil && found != nil && r.c.Count(inventory.Services) == 0 {
		r.c.Cover(inventory.Services, inventory.Coverage{Reason: "which namespace WMCO runs in isn't known: " + reason(found)})
		return nil
	}
	return r.cover(inventory.Services, err)
}

// readOperator reads WMCO's ClusterServiceVersion and tells the namespaces
// where the operator may be. OLM copies a ClusterServiceVersion into every
// namespace that it is for, and they are large: the names are read first.
func (r *reader) readOperator(ctx context.Context) ([]string, error) {
	var found []types.NamespacedName
	p := r.pager("", of(r.metadata.Resource(csvs).List), func(m metav1.Object) {
		if r.c.WantsNamed(csvs.GroupVersion().String(), "ClusterServiceVersion", m.GetName()) {
			found = append(found, types.NamespacedName{Namespace: m.GetNamespace(), Name: m.GetName()})
		}
	})
	p.options.LabelSelector = "!olm.copiedFrom"
	namespaces := []string{kube.OperatorNamespace}
	if err := p.read(ctx); apierrors.IsNotFound(err) {
		return namespaces, nil // a cluster without OLM
	} else if err != nil {
		return namespaces, err
	}
	slices.SortFunc(found, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for _, m := range found {
		if err := r.readCustom(ctx, csvs, m.Namespace, m.Name); err != nil && !apierrors.IsNotFound(err) {
			return namespaces, fmt.Errorf("get %s: %w", m.Name, err)
		}
		if !slices.Contains(namespaces, m.Namespace) {
			namespaces = append(namespaces, m.Namespace)
		}
	}
	return namespaces, nil
}
