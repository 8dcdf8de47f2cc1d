package cluster_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/cluster"
	"github.com/winbake/winbake/internal/cluster/inventory/manifests"
	"github.com/winbake/winbake/internal/cluster/inventory/mustgather"
	"github.com/winbake/winbake/test/cluster/apiserver"
)

// TestKubernetes is of a cluster that holds the example and isn't OpenShift.
func TestKubernetes(t *testing.T) {
	s := apiserver.Start(t)
	s.Load(t, exampleFiles...)
	t.Run("same inventory", func(t *testing.T) { testSame(t, s, exampleFiles) })
	t.Run("no OpenShift", func(t *testing.T) { testNoOpenShift(t, s) })
	t.Run("skew", func(t *testing.T) { testSkew(t, s) })
	t.Run("away", func(t *testing.T) { testAway(t, s) })
	t.Run("slow", func(t *testing.T) { testSlow(t, s) })
	t.Run("command", func(t *testing.T) { testFaults(t, s) })
	t.Run("interrupt", func(t *testing.T) { testInterrupt(t, s) })
	t.Run("tag v3.5.0", func(t *testing.T) { testRetagged(t, s) }) // last: it changes the cluster
}

// TestOpenShift is of a cluster that has everything that is read.
func TestOpenShift(t *testing.T) {
	s := apiserver.Start(t)
	s.InstallOpenShift(t)
	files := append([]string{openShift, byClass, linuxNodes(t)}, exampleFiles...)
	s.Load(t, files...)
	t.Run("same inventory", func(t *testing.T) { testSame(t, s, files) })
	t.Run("role", func(t *testing.T) { testRole(t, s) }) // last: it takes rights away
}

// The same objects give the same inventory from an API server, from the files
// that they were created from, and from a must-gather of the API server.
func testSame(t *testing.T, s *apiserver.Server, files []string) {
	live := plain(t, read(t, cluster.Options{Config: s.Config}))
	if got := plain(t, readManifests(t, files)); got != live {
		t.Errorf("manifests give\n%s\nand the API server\n%s", got, live)
	}
	if got := plain(t, readMustGather(t, gather(t, s))); got != live {
		t.Errorf("a must-gather gives\n%s\nand the API server\n%s", got, live)
	}
}

// linuxNodes is a file of so many Linux nodes that the pods of Windows nodes are
// read node by node.
func linuxNodes(t *testing.T) string {
	t.Helper()
	const node = `---
apiVersion: v1
kind: Node
metadata: {name: linux-%d, labels: {kubernetes.io/os: linux}}
status:
  nodeInfo: {architecture: amd64, operatingSystem: linux, kernelVersion: "", osImage: "", kubeletVersion: v1.32.9, containerRuntimeVersion: "", bootID: "", machineID: "", systemUUID: "", kubeProxyVersion: ""}
`
	var all []byte
	for i := range 5 {
		all = fmt.Appendf(all, node, i)
	}
	file := filepath.Join(t.TempDir(), "linux.yaml")
	if err := os.WriteFile(file, all, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
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
