package winedriver

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/wine/winenode"
)

// objects are what drivers ask an API server for.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: openshift-cluster-csi-drivers}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: internal-feature-states.csi.vsphere.vmware.com, namespace: openshift-cluster-csi-drivers}
data: {csi-windows-support: "true", csi-migration: "true", use-csinode-id: "true"}
---
apiVersion: cns.vmware.com/v1alpha1
kind: CSINodeTopology
metadata: {name: ` + NodeName + `}
spec: {nodeID: ` + NodeName + `}
status: {status: Success}
---
apiVersion: v1
kind: Node
metadata:
  name: ` + NodeName + `
  labels: {topology.kubernetes.io/region: r1, topology.kubernetes.io/zone: r1-a, node.kubernetes.io/instance-type: m5.large, kubernetes.io/os: windows}
spec: {providerID: "aws:///r1-a/i-0123456789abcdef0"}
status:
  nodeInfo: {systemUUID: 42000000-0000-0000-0000-000000000001, operatingSystem: windows, architecture: amd64,
    machineID: "", bootID: "", kernelVersion: "", osImage: "", containerRuntimeVersion: "", kubeletVersion: "", kubeProxyVersion: ""}
`

// GiveCluster starts a real API server and puts a kubeconfig for it on the node.
func GiveCluster(t testing.TB, n *winenode.Node) {
	t.Helper()
	s := apiserver.Start(t)
	s.Install(t, apiserver.Kind{Resource: topologies, Name: "CSINodeTopology"})
	s.LoadText(t, objects)
	client, err := dynamic.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	go playSyncer(t.Context(), client)
	data, err := os.ReadFile(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(n.C(), "kubeconfig"), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

var topologies = schema.GroupVersionResource{Group: "cns.vmware.com", Version: "v1alpha1", Resource: "csinodetopologies"}

// playSyncer does what the syncer of vSphere's controller does for a node: it says
// that its topology is known.
func playSyncer(ctx context.Context, client dynamic.Interface) {
	for ctx.Err() == nil {
		_, _ = client.Resource(topologies).Patch(ctx, NodeName, types.MergePatchType, []byte(`{"status": {"status": "Success"}}`), metav1.PatchOptions{}) // the driver may write it at the same time
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
