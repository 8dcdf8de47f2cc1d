package mustgather

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
	"github.com/winbake/winbake/test/support/compressed"
)

// wantComplete are the resources that a whole must-gather covers.
var wantComplete = map[inventory.Resource]inventory.Coverage{
	inventory.Nodes: {Complete: true, Count: 2}, inventory.CSINodes: {Complete: true, Count: 2},
	inventory.Pods: {Complete: true, Count: 1}, inventory.Volumes: {Complete: true, Count: 1},
	inventory.Claims: {Complete: true, Count: 1}, inventory.ClusterVersion: {Complete: true, Count: 1},
	inventory.DaemonSets: {Complete: true, Count: 1}, inventory.Services: {Complete: true, Count: 1},
	inventory.Namespaces: {Complete: true, Count: 5}, inventory.Pools: {Complete: true, Count: 1}, inventory.CSIDrivers: {Complete: true, Count: 1},
	inventory.AdminGates: {Complete: true, Count: 1}, inventory.AdminAcks: {Complete: true, Count: 1},
}

func wantWhole(t *testing.T, top string) *inventory.Inventory {
	t.Helper()
	inv := mustRead(t, top)
	if !reflect.DeepEqual(inv.Read, wantComplete) || len(inv.Problems) > 0 {
		t.Errorf("coverage %+v\nproblems %+v", inv.Read, inv.Problems)
	}
	return inv
}

// The same objects give the same inventory, whatever they came in.
func TestReadForms(t *testing.T) {
	fs := gathered()
	deep := fs.below(imageFolder).with(files{"must-gather.local.5/timestamp": "2026-11-20 10:00:00.1 +0000 UTC m=+0.1\n2026-11-20 10:05:00.1 +0000 UTC m=+300\n"})
	objects := fs.with(files{ // lists as single objects and the other way round
		namespaces + "shop/core/pods.yaml":                   "",
		namespaces + "shop/pods/web-1/web-1.yaml":            "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web-1, namespace: shop}\nspec: {nodeName: win-1, containers: [{name: web, image: 'example.com/web:1'}], volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}\n",
		cluster + "core/persistentvolumes/pv-1.yaml":         "",
		cluster + "core/persistentvolumes.yaml":              "items:\n- " + strings.ReplaceAll(strings.TrimPrefix(volume, "---\n"), "\n", "\n  "),
		proxyLog:                                             "",
		proxyLog + ".gz":                                     string(compressed.Gzip(t, []byte(proxyLines("win-1 ", versionOf419)))),
		namespaces + "shop/core/persistentvolumeclaims.yaml": string(compressed.Gzip(t, []byte(claims))),
	})
	want := wantWhole(t, fs.folder(t))
	if len(want.Nodes) != 1 || want.Nodes[0].Name != "win-1" || want.LinuxNodes != 1 {
		t.Errorf("nodes %+v", want.Nodes)
	}
	if p := want.Nodes[0].CSIProxy; p == nil || p.Version.String() != "1.1.3-34-g5cb6e2d" || p.At.Where != proxyLog+":4" {
		t.Errorf("csi-proxy %+v", p)
	}
	if want.Cluster.OpenShift != "4.19.12" || want.Cluster.Platform != "VSphere" {
		t.Errorf("cluster %+v", want.Cluster)
	}
	if len(want.Drivers) != 1 || want.Drivers[0].Provisioner != "csi.vsphere.vmware.com" {
		t.Fatalf("drivers %+v", want.Drivers)
	}
	if len(want.Volumes) != 1 || want.Volumes[0].Provisioner != "csi.vsphere.vmware.com" {
		t.Errorf("volumes %+v", want.Volumes)
	}
	if got := wantWhole(t, deep.folder(t)); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	t.Run("other forms", func(t *testing.T) { wantWhole(t, objects.folder(t)) })
}

func TestSource(t *testing.T) {
	top := gathered().below(imageFolder).with(files{"must-gather.local.5/timestamp": "2026-11-20 10:00:00.1 +0000 UTC\n2026-11-20 10:05:00.1 +0000 UTC\n"}).folder(t)
	_, src, err := read(t, top)
	want := inventory.Source{Kind: "must-gather", Name: top, Detail: "22 files, 20 objects, 5 namespaces, gathered 2026-11-20 10:05:00"}
	if err != nil || src != want {
		t.Errorf("%+v, %v", src, err)
	}
}

func TestRefused(t *testing.T) {
	two := gathered().below("a/must-gather.local.1/quay-io-x-sha256-1")
	for name, content := range gathered().below("a/must-gather.local.2/quay-io-x-sha256-1") {
		two[name] = content
	}
	list := "a/must-gather.local.1\na/must-gather.local.2"
	dir := two.folder(t)
	file := filepath.Join(files{"mg.tar.gz": "x"}.folder(t), "mg.tar.gz")
	tests := []struct {
		name, top string
		want      []string
	}{
		{"two in a folder", dir, []string{"holds 2 must-gathers", list, "--must-gather " + filepath.Join(dir, "a/must-gather.local.2")}},
		{"another folder", files{"a/b.yaml": ""}.folder(t), []string{"no must-gather", "oc adm must-gather"}},
		{"nothing wanted", files{namespaces + "a/core/secrets.yaml": ""}.folder(t), []string{"no must-gather"}},
		{"an archive", file, []string{"read from its folder", "mkdir must-gather && tar -xf " + file + " -C must-gather && verify skew --must-gather must-gather"}},
		{"missing", "/does/not/exist", []string{"no such folder"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := read(t, tt.top)
			wantFault(t, err, tt.want...)
		})
	}
}

// Several images of one run, a node's each, and folders of other teams' images
// are one must-gather.
func TestOneRun(t *testing.T) {
	run := func(roots ...string) files {
		out := files{}
		for _, root := range roots {
			for name, content := range gathered() {
				out[strings.TrimPrefix(root+"/"+name, "/")] = content
			}
		}
		return out
	}
	for _, fs := range []files{
		run("must-gather.local.1/quay-io-a-sha256-1", "must-gather.local.1/quay-io-b-sha256-2"),
		run("quay-io-a-sha256-1", "quay-io-b-sha256-2"),
		run("must-gather.local.1/node-1/quay-io-a-sha256-1", "must-gather.local.1/node-2/quay-io-a-sha256-1"),
		run("must-gather.local.1/quay-io-a-sha256-1", "must-gather.local.1/quay-io-a-sha256-1/ceph"),
		run("", "ceph", "noobaa"),
	} {
		wantWhole(t, fs.folder(t))
	}
}

func TestProxyLogWithoutNodes(t *testing.T) {
	alike := gathered().with(files{proxyLog: proxyLines("", versionOf419) + proxyLines("", versionOf419)})
	if n := mustRead(t, alike.folder(t)).Nodes[0]; n.CSIProxy == nil || !n.CSIProxy.Known {
		t.Errorf("all lines agree: %+v", n.CSIProxy)
	}
	differ := gathered().with(files{proxyLog: proxyLines("", versionOf419) + proxyLines("", "Version: v1.3.0-0-g1234567")})
	inv := mustRead(t, differ.folder(t))
	if p := inv.Nodes[0].CSIProxy; p == nil || p.Known || !strings.Contains(p.Reason, "differ") {
		t.Errorf("lines differ: %+v", p)
	}
	none := gathered().with(files{proxyLog: "I1120 10:00:00.000003 1 smb.go:1] request\n"})
	if p := mustRead(t, none.folder(t)).Nodes[0].CSIProxy; p != nil {
		t.Errorf("no version is said: %+v", p)
	}
}

func TestUnreadableFiles(t *testing.T) {
	fs := gathered()
	t.Run("damaged gzip", func(t *testing.T) {
		packed := compressed.Gzip(t, []byte(pods))
		inv := mustRead(t, fs.with(files{namespaces + "shop/core/pods.yaml": string(packed[:len(packed)-12])}).folder(t))
		if c := inv.Read[inventory.Pods]; c.Complete || len(inv.Problems) != 1 || inv.Problems[0].Where != "namespaces/shop/core/pods.yaml" {
			t.Errorf("%+v %+v", c, inv.Problems)
		}
	})
	t.Run("a folder that can't be listed", func(t *testing.T) {
		c := collector()
		r := newReader(c, "top")
		r.unlisted("namespaces/shop", os.ErrPermission)
		r.tellCoverage()
		for resource, cov := range c.Inventory().Read {
			if cov.Complete {
				t.Errorf("%s is complete", resource)
			}
		}
	})
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, collector(), gathered().folder(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// collector knows no catalog: what is read doesn't depend on it.
func collector() *kube.Collector { return kube.NewCollector(kube.Options{}) }

// A must-gather is taken between two runs of a CronJob as a rule, and its
// template names a RuntimeClass as well as Windows itself.
func TestWorkloadsWithoutPods(t *testing.T) {
	const cronJob = "apiVersion: batch/v1\nitems:\n- metadata: {name: nightly, namespace: shop}\n  spec:\n    jobTemplate: {spec: {template: {spec: {runtimeClassName: win, containers: [{name: a, image: b}], volumes: [{name: v, azureFile: {secretName: s, shareName: t}}]}}}}\nkind: CronJobList\n"
	const class = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: win}\nhandler: x\nscheduling: {nodeSelector: {kubernetes.io/os: windows}}\n"
	fs := gathered().with(files{namespaces + "shop/batch/cronjobs.yaml": cronJob})
	if got := mustRead(t, fs.folder(t)).Volumes; len(got) != 1 {
		t.Errorf("without the class: %+v", got)
	}
	got := mustRead(t, fs.with(files{cluster + "node.k8s.io/runtimeclasses/win.yaml": class}).folder(t)).Volumes
	if len(got) != 2 || got[0].Pod.String() != "CronJob shop/nightly" || got[0].InTree != "kubernetes.io/azure-file" {
		t.Errorf("with the class: %+v", got)
	}
}
