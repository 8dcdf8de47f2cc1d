package kube

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/winbake/winbake/internal/cluster/catalog"
	"github.com/winbake/winbake/internal/cluster/inventory"
)

// driverPod is a pod of the DaemonSet smb that runs an image.
func driverPod(name, node, image string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: storage, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: smb, uid: u, controller: true}]}\n" +
		"spec: {nodeName: " + node + ", containers: [{name: smb, image: x}]}\nstatus: {phase: Running, containerStatuses: [{name: smb, imageID: '" + image + "'}, {name: registrar, imageID: 'x@" + zeros + "'}]}"
}

func TestRunning(t *testing.T) {
	ones, twos := "sha256:"+strings.Repeat("1", 64), "sha256:"+strings.Repeat("2", 64)
	cat := drivers()
	cat.Digests = []catalog.Digest{{Digest: ones, Driver: "smb", Version: "1.17.0"}, {Digest: twos, Driver: "smb", Version: "1.18.0"}}
	latest := strings.Replace(smb("os: {name: windows}"), "v1.17.0", "latest", 1)
	for name, c := range map[string]struct {
		docs    []string
		version string
		running int
	}{
		"one image":         {[]string{latest, driverPod("a", "n1", "x@"+ones), driverPod("b", "n2", "x@"+ones)}, "1.17.0", 1},
		"two versions":      {[]string{latest, driverPod("a", "n1", "x@"+ones), driverPod("b", "n2", "x@"+twos)}, "", 2},
		"one isn't known":   {[]string{latest, driverPod("a", "n1", "x@"+ones), driverPod("b", "n2", "x@"+zeros)}, "", 2},
		"the tag is enough": {[]string{smb("os: {name: windows}"), driverPod("a", "n1", "x@"+twos)}, "1.17.0", 1},
		"no pods":           {[]string{latest}, "", 0},
		"an ended pod":      {[]string{latest, driverPod("a", "n1", "x@"+ones), strings.Replace(driverPod("b", "n2", "x@"+twos), "Running", "Failed", 1)}, "1.17.0", 1},
		"a sidecar's image": {[]string{strings.NewReplacer("containers:", "initContainers:", "smbplugin:latest'", "smbplugin:latest', restartPolicy: Always").Replace(latest), strings.Replace(driverPod("a", "n1", "x@"+ones), "containerStatuses", "initContainerStatuses", 1)}, "1.17.0", 1},
	} {
		d := collect(t, Options{Catalog: cat}, c.docs...).Inventory().Drivers[0]
		if d.Version.Version.String() != c.version || len(d.Running) != c.running {
			t.Errorf("%s: version %+v, running %v", name, d.Version, d.Running)
		}
	}
}

// The same objects in any order, from any number of goroutines, are the same
// inventory.
func TestOrderDoesNotCount(t *testing.T) {
	docs := []string{
		pipeMode, smb("os: {name: windows}"), windowsNodeYAML, linuxNodeYAML, set("other", "containers: [{name: a, image: b}]"),
		driverPod("p1", "win-1", "x@"+zeros), driverPod("p2", "lin-1", "x@"+zeros), pod("a", "win-1", claimed), pod("b", "lin-1", claimed),
		pvc("data", "volumeName: v", ""), pv("v", "azureDisk: {diskName: x, diskURI: z}", ""), deployment, statefulSet,
		"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: win-1}\nspec: {drivers: []}",
		"apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: lin-1}\nspec: {drivers: []}",
	}
	text := func(c *Collector) string {
		b, err := json.Marshal(c.Inventory())
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	want := text(collect(t, Options{}, docs...))
	for range 20 {
		rand.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		c := NewCollector(Options{Catalog: drivers()})
		var wg sync.WaitGroup
		for half := range slices.Chunk(docs, len(docs)/3) {
			wg.Go(func() {
				for _, doc := range half {
					add(t, c, doc)
				}
			})
		}
		wg.Wait()
		if got := text(c); got != want {
			t.Fatalf("another order gives\n%s\nwant\n%s", got, want)
		}
	}
}

func TestSameObjectTwice(t *testing.T) {
	inv := collect(t, Options{}, pipeMode, pipeMode).Inventory()
	if len(inv.Drivers) != 1 || len(inv.Problems) != 0 {
		t.Errorf("a copy: %d drivers, problems %v", len(inv.Drivers), inv.Problems)
	}
	inv = collect(t, Options{}, pipeMode, strings.Replace(pipeMode, "v3.3.0", "v3.5.0", 1)).Inventory()
	if len(inv.Drivers) != 1 || inv.Drivers[0].Version.Version.String() != "3.3.0" || len(inv.Problems) != 1 {
		t.Errorf("another version: %+v, problems %v", inv.Drivers, inv.Problems)
	}
}

// Of what was saved twice, on several days or of several clusters, nobody can
// tell which is so.
func TestCopiesThatDiffer(t *testing.T) {
	csi := "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: win-1}\nspec: {drivers: [{name: a.b, nodeID: x, topologyKeys: []}]}"
	volume := pv("v", "azureDisk: {diskName: x, diskURI: z}, claimRef: {namespace: shop, name: data}", "")
	for name, c := range map[string]struct{ first, second, want string }{
		"Node, its WMCO":       {windowsNodeYAML, strings.Replace(windowsNodeYAML, "10.19.2-2b3c4d5", "10.19.3-2b3c4d5", 1), "Node win-1 stands here and, otherwise, at Node win-1;"},
		"Node, its system":     {windowsNodeYAML, strings.Replace(linuxNodeYAML, "lin-1", "win-1", 1), "Node win-1"},
		"Node, its images":     {windowsNodeYAML, windowsNodeYAML + "  images: [{names: [x]}]\n", ""},
		"Linux Node, a label":  {linuxNodeYAML, strings.Replace(linuxNodeYAML, "{name: lin-1}", "{name: lin-1, labels: {a: b}}", 1), ""},
		"CSINode":              {csi, strings.Replace(csi, "a.b", "c.d", 1), "CSINode win-1"},
		"CSINode, its order":   {strings.Replace(csi, "[{", "[{name: c.d, nodeID: x, topologyKeys: []}, {", 1), csi[:strings.LastIndex(csi, "]}")] + ", {name: c.d, nodeID: x, topologyKeys: []}]}", ""},
		"CSINode, its id":      {csi, strings.Replace(csi, "nodeID: x", "nodeID: z", 1), ""},
		"volume, its plugin":   {volume, pv("v", "nfs: {server: x, path: /}, claimRef: {namespace: shop, name: data}", ""), "PersistentVolume v"},
		"volume, its claim":    {volume, strings.Replace(volume, "name: data", "name: other", 1), "PersistentVolume v"},
		"volume, its capacity": {volume, strings.Replace(volume, "spec: {", "spec: {capacity: {storage: 1Gi}, ", 1), ""},
		"claim":                {pvc("data", "volumeName: v", ""), pvc("data", "volumeName: w", ""), "PersistentVolumeClaim shop/data"},
		"claim, its label":     {pvc("data", "volumeName: v", ""), pvc("data", "volumeName: v", "a: b"), ""},
		"pod, its node":        {pod("a", "win-1", claimed), pod("a", "win-2", claimed), "Pod shop/a"},
		"pod, its volume":      {pod("a", "win-1", claimed), pod("a", "win-1", strings.Replace(claimed, "claimName: data", "claimName: other", 1)), "Pod shop/a"},
		"pod, its owner":       {driverPod("a", "n1", "x@"+zeros), strings.Replace(driverPod("a", "n1", "x@"+zeros), "name: smb, uid", "name: other, uid", 1), "Pod storage/a"},
		"pod of no driver":     {driverPod("a", "n1", "x@"+zeros), driverPod("a", "n1", "y@"+zeros), ""},
		"pod of a set, image":  {strings.ReplaceAll(driverPod("a", "n1", "x@"+zeros), "DaemonSet", "ReplicaSet"), strings.ReplaceAll(driverPod("a", "n1", "y@"+zeros), "DaemonSet", "ReplicaSet"), ""},
		"pods that both ended": {strings.Replace(pod("a", "win-1", claimed), "Running", "Failed", 1), strings.Replace(pod("a", "win-2", claimed), "Running", "Succeeded", 1), ""},
		"pod, its address":     {pod("a", "win-1", claimed), strings.Replace(pod("a", "win-1", claimed), "phase: Running", "phase: Running, podIP: 10.0.0.1", 1), ""},
	} {
		for _, compare := range []bool{true, false} {
			col := NewCollector(Options{Catalog: drivers()})
			if compare {
				col.CompareCopies()
			}
			add(t, col, c.first)
			add(t, col, c.second)
			problems := col.Inventory().Problems
			switch want := c.want != "" && compare; {
			case len(problems) != map[bool]int{true: 1}[want]:
				t.Errorf("%s, compared %v: %v", name, compare, problems)
			case want && !strings.HasPrefix(problems[0].What, c.want):
				t.Errorf("%s: %q, want %q", name, problems[0].What, c.want)
			}
		}
	}
}

// What changes while a cluster runs, and what is never asked of Linux nodes,
// contradicts nothing.
func TestCopiesThatDifferHarmlessly(t *testing.T) {
	csi := "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: lin-1}\nspec: {drivers: [{name: a.b, nodeID: x, topologyKeys: []}]}"
	free := strings.Replace(pod("a", "", claimed), "nodeSelector: {kubernetes.io/os: windows}, ", "", 1)
	on := func(node, pod string) string { return strings.Replace(pod, `nodeName: ""`, "nodeName: "+node, 1) }
	cordoned := strings.NewReplacer("taints: [", "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}, ", `status: "True"`, `status: "False"`).Replace(windowsNodeYAML)
	ds, ones := smb("os: {name: windows}"), "sha256:"+strings.Repeat("1", 64)
	for name, c := range map[string]struct {
		docs []string
		want int
	}{
		"cordoned, not ready":             {[]string{windowsNodeYAML, cordoned}, 0},
		"a taint of its own":              {[]string{windowsNodeYAML, strings.Replace(windowsNodeYAML, "key: os", "key: gpu", 1)}, 1},
		"a label":                         {[]string{windowsNodeYAML, strings.Replace(windowsNodeYAML, "labels: {", "labels: {shop: a, ", 1)}, 1},
		"its build":                       {[]string{windowsNodeYAML, strings.Replace(windowsNodeYAML, "10.0.17763", "10.0.20348", 1)}, 1},
		"a CSINode of Linux":              {[]string{csi, strings.Replace(csi, "a.b", "c.d", 1), linuxNodeYAML}, 0},
		"a pod of Linux, its volume":      {[]string{on("lin-1", free), strings.Replace(on("lin-1", free), "claimName: data", "claimName: other", 1), linuxNodeYAML}, 0},
		"a pod for Linux":                 {[]string{strings.Replace(pod("a", "n", claimed), "os: windows", "os: linux", 1), strings.NewReplacer("os: windows", "os: linux", "claimName: data", "claimName: other").Replace(pod("a", "n", claimed))}, 0},
		"a pod that moved to Windows":     {[]string{on("lin-1", free), on("win-1", free), linuxNodeYAML, windowsNodeYAML}, 1},
		"a pod bound later":               {[]string{free, on("win-1", free), windowsNodeYAML}, 0},
		"bound later, another volume":     {[]string{free, strings.Replace(on("win-1", free), "claimName: data", "claimName: other", 1), windowsNodeYAML}, 1},
		"a pod that ended":                {[]string{pod("a", "win-1", claimed), strings.Replace(pod("a", "win-1", claimed), "Running", "Succeeded", 1)}, 0},
		"an image that was pulled":        {[]string{ds, driverPod("a", "n1", ""), driverPod("a", "n1", "x@"+zeros)}, 0},
		"a driver's image":                {[]string{driverPod("a", "n1", "x@"+ones), driverPod("a", "n1", "x@"+zeros), ds}, 1},
		"a driver's image on Linux":       {[]string{driverPod("a", "lin-1", "x@"+ones), driverPod("a", "lin-1", "x@"+zeros), ds, linuxNodeYAML}, 1},
		"the image of no driver on Linux": {[]string{driverPod("a", "lin-1", "x@"+ones), driverPod("a", "lin-1", "x@"+zeros), linuxNodeYAML}, 0},
	} {
		for _, order := range []string{"as given", "reversed"} {
			col := NewCollector(Options{Catalog: drivers()})
			col.CompareCopies()
			for _, doc := range c.docs {
				add(t, col, doc)
			}
			if problems := col.Inventory().Problems; len(problems) != c.want {
				t.Errorf("%s, %s: %v", name, order, problems)
			}
			slices.Reverse(c.docs)
		}
	}
}

// Of two states of a pod the one that says more is kept.
func TestLaterStateOfAPod(t *testing.T) {
	free := strings.Replace(pod("a", "", claimed), "nodeSelector: {kubernetes.io/os: windows}, ", "", 1)
	bound := strings.Replace(free, `nodeName: ""`, "nodeName: win-1", 1)
	ended := strings.Replace(bound, "Running", "Failed", 1)
	latest := smb("os: {name: windows}")
	for name, docs := range map[string][]string{
		"bound, ran, ended":   {windowsNodeYAML, free, bound, ended, latest, driverPod("p", "win-1", ""), driverPod("p", "win-1", "x@"+zeros)},
		"in the other order":  {driverPod("p", "win-1", "x@"+zeros), driverPod("p", "win-1", ""), latest, ended, bound, free, windowsNodeYAML},
		"the bound one twice": {windowsNodeYAML, bound, free, bound, latest, driverPod("p", "win-1", "x@"+zeros)},
	} {
		col := NewCollector(Options{Catalog: drivers()})
		col.CompareCopies()
		for _, doc := range docs {
			add(t, col, doc)
		}
		inv := col.Inventory()
		if len(inv.Problems) != 0 || len(inv.Volumes) != 1 || inv.Volumes[0].Node != "win-1" || len(inv.Drivers[0].Running) != 1 {
			t.Errorf("%s: problems %v, volumes %+v, running %v", name, inv.Problems, inv.Volumes, inv.Drivers[0].Running)
		}
	}
}

// A manifest from Git has no status; that of the cluster is kept.
func TestDaemonSetWithAndWithoutStatus(t *testing.T) {
	fromGit := smb("os: {name: windows}")
	fromCluster := fromGit + "\nstatus: {observedGeneration: 3, desiredNumberScheduled: 5, numberReady: 4}"
	for name, docs := range map[string][]string{"Git first": {fromGit, fromCluster}, "cluster first": {fromCluster, fromGit}} {
		inv := collect(t, Options{}, docs...).Inventory()
		if len(inv.Problems) != 0 || inv.Drivers[0].Rollout == nil || inv.Drivers[0].Rollout.Desired != 5 {
			t.Errorf("%s: %v, %+v", name, inv.Problems, inv.Drivers[0].Rollout)
		}
	}
	inv := collect(t, Options{}, fromGit, strings.Replace(fromCluster, "v1.17.0", "v1.18.0", 1)).Inventory()
	if len(inv.Problems) != 1 || inv.Drivers[0].Rollout != nil {
		t.Errorf("another version: %v, %+v", inv.Problems, inv.Drivers[0].Rollout)
	}
}

func TestOperatorManaged(t *testing.T) {
	for name, c := range map[string]struct {
		doc  string
		want bool
	}{
		"by hand":     {smb("os: {name: windows}"), false},
		"spec-hash":   {strings.Replace(smb("os: {name: windows}"), "namespace: storage", "namespace: storage, annotations: {operator.openshift.io/spec-hash: abc}", 1), true},
		"owner":       {strings.Replace(smb("os: {name: windows}"), "namespace: storage", "namespace: storage, ownerReferences: [{apiVersion: operator.openshift.io/v1, kind: ClusterCSIDriver, name: x, uid: u}]", 1), true},
		"payload":     {strings.NewReplacer("namespace: storage", "namespace: openshift-cluster-csi-drivers", "x/sig-storage/smbplugin:v1.17.0", "quay.io/openshift-release-dev/ocp-v4.0-art-dev@"+zeros, "metadata: {name: smb", "metadata: {name: csi-azuredisk-node-win").Replace(smb("os: {name: linux}")), true},
		"WMCO sample": {strings.Replace(smb("os: {name: windows}"), "namespace: storage", "namespace: openshift-cluster-csi-drivers", 1), false},
	} {
		if d := driver(t, c.doc); d.OperatorManaged != c.want {
			t.Errorf("%s: %v", name, d.OperatorManaged)
		}
	}
}

func TestRollout(t *testing.T) {
	doc := smb("os: {name: windows}")
	if d := driver(t, doc); d.Rollout != nil {
		t.Errorf("without status: %+v", d.Rollout)
	}
	doc = strings.Replace(doc, "namespace: storage}", "namespace: storage, generation: 4}", 1) +
		"\n  updateStrategy: {type: OnDelete}\nstatus: {observedGeneration: 3, desiredNumberScheduled: 5, numberReady: 4, updatedNumberScheduled: 2}"
	want := inventory.Rollout{Desired: 5, Ready: 4, Updated: 2}
	if d := driver(t, doc); d.Rollout == nil || *d.Rollout != want {
		t.Errorf("%+v, want %+v", d.Rollout, want)
	}
}

func TestCover(t *testing.T) {
	c := NewCollector(Options{})
	c.Cover(inventory.Nodes, inventory.Coverage{Count: 5})
	c.Cover(inventory.Pods, inventory.Coverage{Reason: "forbidden"})
	read := c.Inventory().Read
	if got := read[inventory.Nodes]; got != (inventory.Coverage{Complete: true, Count: 5}) {
		t.Errorf("nodes %+v", got)
	}
	if got := read[inventory.Pods]; got != (inventory.Coverage{Reason: "forbidden"}) {
		t.Errorf("pods %+v", got)
	}
	if read[inventory.Claims].Complete {
		t.Error("claims were never read")
	}
}

func TestWants(t *testing.T) {
	c := NewCollector(Options{})
	for _, k := range [][2]string{{"apps/v1", "DaemonSet"}, {"extensions/v1beta1", "DaemonSet"}, {"v1", "Pod"}, {"storage.k8s.io/v1beta1", "CSINode"}, {"config.openshift.io/v1", "ClusterVersion"}} {
		if !c.Wants(k[0], k[1]) {
			t.Errorf("%v isn't wanted", k)
		}
	}
	for _, k := range [][2]string{{"v1", "DaemonSet"}, {"v1", "Secret"}, {"argoproj.io/v1", "Deployment"}, {"", ""}} {
		if c.Wants(k[0], k[1]) {
			t.Errorf("%v is wanted", k)
		}
	}
	for _, k := range [][3]string{
		{"v1", "DaemonSet", "apps/v1"}, {"apps/v1", "Pod", "v1"}, {"storage/v1", "CSINode", "storage.k8s.io/v1"},
		{"extensions/v1beta1", "DaemonSet", ""}, {"longhorn.io/v1beta2", "Node", ""}, {"v1", "Secret", ""}, {"v1", "Node", ""},
	} {
		if got := c.Misplaced(k[0], k[1]); got != k[2] {
			t.Errorf("%s in %s: %q, want %q", k[1], k[0], got, k[2])
		}
	}
	if c.WantsNamed("v1", "ConfigMap", "dashboards") || !c.WantsNamed("v1", "ConfigMap", "windows-services-10.19.1-1a2b3c4") {
		t.Error("of ConfigMaps only WMCO's and the acks are wanted")
	}
}
