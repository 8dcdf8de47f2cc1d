package walkthrough

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/winbake/winbake/test/apiserver"
)

// kind is a cluster that a page is for: what stands in its comment
// <!-- cluster: 4.18.20 VSphere -->, and with in-tree, of a cluster whose Windows
// pods still have in-tree volumes.
type kind struct {
	Release, Platform string
	InTree            bool
}

// wmco and kubelets are of the releases that pages are for, by minor.
var (
	wmco     = map[string]string{"4.12": "7.2.1", "4.13": "8.1.3", "4.18": "10.18.2", "4.19": "10.19.2", "4.20": "10.20.1", "4.21": "10.21.1"}
	kubelets = map[string]string{"4.12": "v1.25.16", "4.13": "v1.26.15", "4.18": "v1.31.14", "4.19": "v1.32.8", "4.20": "v1.33.8", "4.21": "v1.34.1"}
	nodes    = []string{"winworker-1", "winworker-2"}
)

func minor(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return parts[0] + "." + parts[1]
}

// cluster is an API server with a cluster's objects, and the reader's folder.
type cluster struct {
	server *apiserver.Server
	typed  kubernetes.Interface
	any    dynamic.Interface
	dir    string
	path   string // of programs
}

func start(t *testing.T, k kind) *cluster {
	t.Helper()
	c := &cluster{server: apiserver.Start(t), dir: t.TempDir(), path: programs(t)}
	var err error
	if c.typed, err = kubernetes.NewForConfig(c.server.Config); err != nil {
		t.Fatal(err)
	}
	if c.any, err = dynamic.NewForConfig(c.server.Config); err != nil {
		t.Fatal(err)
	}
	c.server.InstallOpenShift(t)
	c.server.LoadText(t, k.objects(t, "cluster.yaml"))
	if k.InTree {
		c.server.LoadText(t, k.objects(t, "in-tree-"+strings.ToLower(k.Platform)+".yaml"))
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
	if wmco[v] == "" || kubelets[v] == "" {
		t.Fatalf("nothing is written down of a cluster of %s", k.Release)
	}
	gates := ""
	if v == "4.12" || v == "4.13" {
		kube := map[string]string{"4.12": "126", "4.13": "127"}[v]
		gates = fmt.Sprintf("ack-%s-kube-%s-vsphere-migration-in-4.14: vSphere volumes move to CSI", v, kube)
	}
	migrated := "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/vsphere-volume"
	if k.InTree {
		migrated = ""
	}
	var out bytes.Buffer
	if err := tmpl.Execute(&out, map[string]any{
		"Release": k.Release, "Platform": k.Platform, "WMCO": wmco[v], "Kubelet": kubelets[v], "Nodes": nodes, "Gates": gates, "Migrated": migrated,
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
	for _, name := range nodes {
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"windowsmachineconfig.openshift.io/version":"%[1]s-1a2b3c4","windowsmachineconfig.openshift.io/desired-version":"%[1]s-1a2b3c4"}},"status":{"nodeInfo":{"kubeletVersion":%[2]q}}}`, wmco[minor(to)], kubelets[minor(to)])
		if _, err := c.typed.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.typed.CoreV1().Nodes().Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
}
