package walkthrough

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/winbake/winbake/test/cluster/apiserver"
	"github.com/winbake/winbake/test/support/kubeclient"
)

// kind is a cluster that a page is for: what is in its comment
// <!-- cluster: 4.18.20 VSphere -->. InTree, in-tree-vsphere, names a file with
// Windows pods that still have in-tree volumes.
type kind struct{ Release, Platform, InTree string }

// wmco and kubelets are of the releases that pages are for, by minor. The server
// is of one Kubernetes whatever the release, so that a kubelet of 1.25 would be
// too old for it: the clusters before 4.18 have the server's.
var (
	wmco     = map[string]string{"4.11": "6.0.1", "4.12": "7.2.3", "4.13": "8.1.4", "4.14": "9.0.4", "4.18": "10.18.2", "4.19": "10.19.2", "4.20": "10.20.1", "4.21": "10.21.1"}
	kubelets = map[string]string{"4.18": "v1.31.14", "4.19": "v1.32.8", "4.20": "v1.33.8"}
	nodes    = []string{"winworker-1", "winworker-2"}
)

func kubelet(release string) string { return cmp.Or(kubelets[minor(release)], "v1.34.1") }

func minor(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return parts[0] + "." + parts[1]
}

// cluster is an API server with a cluster's objects, and the reader's folder.
type cluster struct {
	server *apiserver.Server
	typed  *kubeclient.Set
	any    dynamic.Interface
	turns  atomic.Int64 // that were played
	left   sync.Map     // claims whose volume stayed at the storage
	dir    string
	path   string // of programs
	values string // of a page's variables, as it assigns them
}

func start(t *testing.T, k kind) *cluster {
	t.Helper()
	c := &cluster{server: apiserver.Start(t), dir: t.TempDir(), path: programs(t)}
	var err error
	if c.typed, err = kubeclient.New(c.server.Config); err != nil {
		t.Fatal(err)
	}
	if c.any, err = dynamic.NewForConfig(c.server.Config); err != nil {
		t.Fatal(err)
	}
	c.server.InstallOpenShift(t)
	c.server.LoadText(t, k.objects(t, "cluster.yaml"))
	if k.InTree != "" {
		c.server.LoadText(t, k.objects(t, k.InTree+".yaml"))
	}
	c.play(t)
	return c
}

// objects fills a file of testdata in.
func (k kind) objects(t *testing.T, name string) string {
	t.Helper()
	tmpl, err := template.ParseFiles(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	v := minor(k.Release)
	if wmco[v] == "" {
		t.Fatalf("nothing is written down of a cluster of %s", k.Release)
	}
	gates := ""
	if v == "4.12" || v == "4.13" {
		kube := map[string]string{"4.12": "126", "4.13": "127"}[v]
		gates = fmt.Sprintf("ack-%s-kube-%s-vsphere-migration-in-4.14: vSphere volumes move to CSI", v, kube)
	}
	migrated := "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/vsphere-volume"
	if k.InTree != "" {
		migrated = ""
	}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, map[string]any{
		"Release": k.Release, "Platform": k.Platform, "WMCO": wmco[v], "Proxy": v != "4.11", "Kubelet": kubelet(k.Release), "Nodes": nodes, "Gates": gates, "Migrated": migrated,
	}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// update plays what oc adm upgrade leads to: the cluster has the release, and
// WMCO has followed on the nodes.
func (c *cluster) update(t *testing.T, to string) {
	t.Helper()
	versions := schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusterversions"}
	patch := fmt.Sprintf(`{"status":{"history":[{"version":%q,"state":"Completed"}]}}`, to)
	if _, err := c.any.Resource(versions).Patch(t.Context(), "version", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.migrate(t)
	for _, name := range nodes {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"windowsmachineconfig.openshift.io/version":"%[1]s-1a2b3c4","windowsmachineconfig.openshift.io/desired-version":"%[1]s-1a2b3c4"}},"status":{"nodeInfo":{"kubeletVersion":%[2]q}}}`, wmco[minor(to)], kubelet(to))
		for _, sub := range [][]string{nil, {"status"}} {
			if _, err := c.typed.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, sub...); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// migrate plays what a release that serves in-tree volumes by CSI says of them.
func (c *cluster) migrate(t *testing.T) {
	t.Helper()
	list, err := c.typed.CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pv := range list.Items {
		to := ""
		switch {
		case pv.Spec.VsphereVolume != nil:
			to = "csi.vsphere.vmware.com"
		case pv.Spec.AzureDisk != nil:
			to = "disk.csi.azure.com"
		case pv.Spec.AzureFile != nil:
			to = "file.csi.azure.com"
		default:
			continue
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"pv.kubernetes.io/migrated-to":%q}}}`, to)
		if _, err := c.typed.CoreV1().PersistentVolumes().Patch(t.Context(), pv.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	const migrated = "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/vsphere-volume"
	for _, name := range nodes {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"storage.alpha.kubernetes.io/migrated-plugins":%q}}}`, migrated)
		if _, err := c.typed.StorageV1().CSINodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}
