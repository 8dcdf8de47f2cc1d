package cluster_test

import (
	"testing"

	"github.com/winbake/winbake/internal/inventory"
	"github.com/winbake/winbake/internal/inventory/cluster"
	"github.com/winbake/winbake/internal/inventory/manifests"
	"github.com/winbake/winbake/internal/inventory/mustgather"
	"github.com/winbake/winbake/test/apiserver"
)

// The same objects give the same inventory from an API server, from the files
// that they were created from, and from a must-gather of the API server.
func TestSameFromEverySource(t *testing.T) {
	for name, files := range map[string][]string{
		"Kubernetes": exampleFiles,
		"OpenShift":  append([]string{openShift}, exampleFiles...),
	} {
		t.Run(name, func(t *testing.T) {
			s := apiserver.Start(t)
			s.InstallOpenShift(t)
			s.Load(t, files...)
			live := plain(t, read(t, cluster.Options{Config: s.Config}))
			if got := plain(t, readManifests(t, files)); got != live {
				t.Errorf("manifests give\n%s\nand the API server\n%s", got, live)
			}
			if got := plain(t, readMustGather(t, gather(t, s))); got != live {
				t.Errorf("a must-gather gives\n%s\nand the API server\n%s", got, live)
			}
		})
	}
}

func readManifests(t *testing.T, files []string) *inventory.Inventory {
	t.Helper()
	c := collector(t)
	if _, err := manifests.Read(t.Context(), c, files, nil); err != nil {
		t.Fatal(err)
	}
	return c.Inventory()
}

func readMustGather(t *testing.T, dir string) *inventory.Inventory {
	t.Helper()
	c := collector(t)
	if _, err := mustgather.Read(t.Context(), c, dir); err != nil {
		t.Fatal(err)
	}
	return c.Inventory()
}
