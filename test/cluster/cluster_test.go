// Package cluster_test tries the live reader, and the commands that use it, on
// a real API server.
package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

const (
	example = "../../examples/cluster-4.19-vsphere"
	// openShift is what an OpenShift cluster has beside the example's objects.
	openShift = "testdata/openshift.yaml"
	// byClass is a driver that its RuntimeClass brings to Windows.
	byClass = "testdata/class.yaml"
)

var exampleFiles = []string{example + "/driver.yaml", example + "/nodes.yaml", example + "/workload.yaml"}

func collector(t *testing.T) *kube.Collector {
	t.Helper()
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	return kube.NewCollector(kube.Options{Catalog: known})
}

// read reads a cluster that can be read.
func read(t *testing.T, o cluster.Options) *inventory.Inventory {
	t.Helper()
	c := collector(t)
	if _, err := cluster.Read(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	return c.Inventory()
}

// refused reads a cluster that can't be read.
func refused(ctx context.Context, t *testing.T, config *rest.Config) *fault.Error {
	t.Helper()
	_, err := cluster.Read(ctx, collector(t), cluster.Options{Config: config})
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		t.Fatalf("no fault: %v", err)
	}
	return f
}

// plain is an inventory as JSON without what depends on the reader: where each
// thing stood, what else there was to read, and the API server's own version.
func plain(t *testing.T, inv *inventory.Inventory) string {
	t.Helper()
	copied := *inv
	copied.Sources, copied.Read, copied.Problems, copied.Cluster.Kubernetes, copied.Cluster.Other = nil, nil, nil, "", "" // what files may lack
	copied.Cluster.Namespaces = slices.DeleteFunc(slices.Clone(inv.Cluster.Namespaces), func(n inventory.Namespace) bool {
		return n.Enforce == "" // the server makes some of its own
	})
	src, err := json.Marshal(copied)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(src, &tree); err != nil {
		t.Fatal(err)
	}
	dropPlaces(tree)
	out, err := json.MarshalIndent(tree, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func dropPlaces(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "at")
		delete(v, "evidence")
		for _, below := range v {
			dropPlaces(below)
		}
	case []any:
		for _, below := range v {
			dropPlaces(below)
		}
	}
}
