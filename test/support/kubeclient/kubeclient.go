// Package kubeclient is client-go's set of typed clients, with the groups that
// the tests use. The set of all groups takes the compiler minutes on a machine
// without caches.
package kubeclient

import (
	"cmp"
	"fmt"

	"k8s.io/client-go/discovery"
	appsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	authorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	rbacv1 "k8s.io/client-go/kubernetes/typed/rbac/v1"
	storagev1 "k8s.io/client-go/kubernetes/typed/storage/v1"
	"k8s.io/client-go/rest"
)

// Set has a client for each group, on one connection. Its methods are those of
// client-go's kubernetes.Interface.
type Set struct {
	apps          *appsv1.AppsV1Client
	authorization *authorizationv1.AuthorizationV1Client
	core          *corev1.CoreV1Client
	rbac          *rbacv1.RbacV1Client
	storage       *storagev1.StorageV1Client
	discovery     *discovery.DiscoveryClient
}

// New makes the clients.
func New(config *rest.Config) (*Set, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	s := &Set{}
	var errs [6]error
	s.apps, errs[0] = appsv1.NewForConfigAndClient(config, client)
	s.authorization, errs[1] = authorizationv1.NewForConfigAndClient(config, client)
	s.core, errs[2] = corev1.NewForConfigAndClient(config, client)
	s.rbac, errs[3] = rbacv1.NewForConfigAndClient(config, client)
	s.storage, errs[4] = storagev1.NewForConfigAndClient(config, client)
	s.discovery, errs[5] = discovery.NewDiscoveryClientForConfigAndClient(config, client)
	if err := cmp.Or(errs[:]...); err != nil {
		return nil, fmt.Errorf("make a client: %w", err)
	}
	return s, nil
}

// AppsV1 is apps/v1.
func (s *Set) AppsV1() appsv1.AppsV1Interface { return s.apps }

// AuthorizationV1 is authorization.k8s.io/v1.
func (s *Set) AuthorizationV1() authorizationv1.AuthorizationV1Interface { return s.authorization }

// CoreV1 is v1.
func (s *Set) CoreV1() corev1.CoreV1Interface { return s.core }

// RbacV1 is rbac.authorization.k8s.io/v1.
func (s *Set) RbacV1() rbacv1.RbacV1Interface { return s.rbac }

// StorageV1 is storage.k8s.io/v1.
func (s *Set) StorageV1() storagev1.StorageV1Interface { return s.storage }

// Discovery tells what the server serves.
func (s *Set) Discovery() discovery.DiscoveryInterface { return s.discovery }
