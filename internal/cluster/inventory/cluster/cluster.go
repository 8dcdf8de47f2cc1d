// Package cluster reads an inventory from a live cluster's API server. It
// gets and lists and does nothing else; Role holds exactly the rights that it uses.
//
// It knows what to ask for and how to ask for little of it: lists come in
// pages, of Linux nodes only the names are read, pods only where they run on
// Windows or belong to a driver. What the objects mean, package kube knows.
//
// What the user may not read, or the cluster doesn't have, becomes incomplete
// coverage and a Problem: neither an error, nor taken for none being there.
package cluster

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// concurrent is how many requests are under way at once: the API server serves
// other clients too.
const concurrent = 6

//go:embed clusterrole.yaml
var role string

// Role are the rights that Read uses, as a ClusterRole and a Role.
func Role() string { return role }

// Read adds what the cluster holds to c.
//
// Errors are *fault.Error: the API server can't be reached or stops answering,
// doesn't accept the credentials, or ctx's deadline passes, which errors.Is
// finds as context.DeadlineExceeded. A cancelled ctx is its own error. Then c
// holds a part of the cluster and is good for nothing.
func Read(ctx context.Context, c *kube.Collector, o Options) (inventory.Source, error) {
	// client-go logs to standard error, where only package console writes.
	ctx = klog.NewContext(ctx, logr.Discard())
	r, err := newReader(c, o)
	if err != nil {
		return inventory.Source{}, err
	}
	if err := r.read(ctx); err != nil {
		return inventory.Source{}, r.fault(ctx, err)
	}
	return inventory.Source{Kind: "cluster", Name: r.name(), Context: r.o.Context, Detail: r.detail()}, nil
}

// read asks for the version first: if that fails nothing else can be read.
// Pods come late, because which are read depends on the nodes and on the
// DaemonSets, and services because of the namespaces.
func (r *reader) read(ctx context.Context) error {
	if err := r.readVersion(ctx); err != nil {
		return err
	}
	r.sets = map[types.NamespacedName]string{}
	err := inParallel(ctx,
		r.all(inventory.DaemonSets, "daemonsets", of(r.apps.DaemonSets("").List), r.daemonSet),
		r.all(inventory.CSINodes, "csinodes", of(r.storage.CSINodes().List), add[storagev1.CSINode](r, "storage.k8s.io/v1", "CSINode")),
		r.all(inventory.Volumes, "persistentvolumes", of(r.core.PersistentVolumes().List), add[corev1.PersistentVolume](r, "v1", "PersistentVolume")),
		r.all(inventory.Claims, "persistentvolumeclaims", of(r.core.PersistentVolumeClaims("").List), add[corev1.PersistentVolumeClaim](r, "v1", "PersistentVolumeClaim")),
		r.readNodes, r.readClasses, r.readNamespaces, r.readClusterVersion, r.readRuntimeClasses, r.readInfrastructure,
		r.objects(inventory.CSIDrivers, csiDrivers), r.objects(inventory.Pools, pools),
		r.configMap(inventory.AdminGates, "openshift-config-managed", "admin-gates"), r.configMap(inventory.AdminAcks, "openshift-config", "admin-acks"))
	if err != nil {
		return err
	}
	return inParallel(ctx, r.readServices, r.readPods)
}

// inParallel runs all and returns the first error, which ends the others.
func inParallel(ctx context.Context, all ...func(context.Context) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(concurrent)
	for _, f := range all {
		g.Go(func() error { return f(ctx) })
	}
	return g.Wait()
}

func (r *reader) name() string { return cmp.Or(r.o.Context, r.host) }

func (r *reader) detail() string {
	at := ""
	if r.name() != r.host {
		at = r.host + ", "
	}
	count := func(of inventory.Resource, what string) string { return inventory.Many(r.c.Count(of), what) }
	return fmt.Sprintf("%sKubernetes %s: %s (%d Windows), %s, %s, %s, %s", at, cmp.Or(r.version, "unknown"),
		count(inventory.Nodes, "node"), len(r.nodes.windows), count(inventory.DaemonSets, "DaemonSet"), count(inventory.Pods, "pod"),
		count(inventory.Volumes, "volume"), count(inventory.Claims, "claim"))
}
