package kube

import (
	"fmt"
	"strings"
	"testing"
)

// pod writes a Windows pod with one volume.
func pod(name, node, volume string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: shop}\nspec: {nodeName: %q, nodeSelector: {kubernetes.io/os: windows}, containers: [{name: a, image: b}], volumes: [%s]}\nstatus: {phase: Running}", name, node, volume)
}

func pvc(name, spec, annotations string) string {
	return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: " + name + ", namespace: shop, annotations: {" + annotations + "}}\nspec: {" + spec + "}"
}

func pv(name, spec, annotations string) string {
	return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name + ", annotations: {" + annotations + "}}\nspec: {" + spec + "}"
}

const claimed = "{name: data, persistentVolumeClaim: {claimName: data}}"

func TestVolumesInUse(t *testing.T) {
	class := "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s, annotations: {storageclass.kubernetes.io/is-default-class: '%s'}}\nprovisioner: %s"
	for name, c := range map[string]struct {
		docs []string
		want string // provisioner in-tree PV migrated-to, or the reason
	}{
		"CSI volume": {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", ""), pv("v", "csi: {driver: disk.csi.azure.com, volumeHandle: x}", "")}, "disk.csi.azure.com||v|"},
		"in-tree disk": {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", ""), pv("v", "azureDisk: {diskName: x, diskURI: z}", "pv.kubernetes.io/migrated-to: disk.csi.azure.com")},
			"disk.csi.azure.com|kubernetes.io/azure-disk|v|disk.csi.azure.com"},
		"in-tree vSphere": {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", ""), pv("v", "vsphereVolume: {volumePath: x}", "")}, "csi.vsphere.vmware.com|kubernetes.io/vsphere-volume|v|"},
		"in-tree EBS":     {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", ""), pv("v", "awsElasticBlockStore: {volumeID: x}", "")}, "ebs.csi.aws.com|kubernetes.io/aws-ebs|v|"},
		"in-tree GCE":     {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", ""), pv("v", "gcePersistentDisk: {pdName: x}", "")}, "pd.csi.storage.gke.io|kubernetes.io/gce-pd|v|"},
		"claim not read":  {[]string{pod("a", "win-1", claimed), pv("v", "csi: {driver: smb.csi.k8s.io, volumeHandle: x}, claimRef: {namespace: shop, name: data}", "")}, "smb.csi.k8s.io||v|"},
		"nothing read":    {[]string{pod("a", "win-1", claimed)}, "PersistentVolumeClaim data wasn't read"},
		"PV not read":     {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", "")}, "PersistentVolume v wasn't read"},
		"annotation":      {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", "volume.kubernetes.io/storage-provisioner: file.csi.azure.com")}, "file.csi.azure.com||v|"},
		"old annotation": {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", "volume.beta.kubernetes.io/storage-provisioner: kubernetes.io/azure-file")},
			"file.csi.azure.com|kubernetes.io/azure-file|v|"},
		"class":           {[]string{pod("a", "", claimed), pvc("data", "storageClassName: gold", ""), fmt.Sprintf(class, "gold", "false", "kubernetes.io/azure-disk")}, "disk.csi.azure.com|kubernetes.io/azure-disk||"},
		"default class":   {[]string{pod("a", "", claimed), pvc("data", "resources: {}", ""), fmt.Sprintf(class, "gold", "true", "smb.csi.k8s.io")}, "smb.csi.k8s.io|||"},
		"two defaults":    {[]string{pod("a", "", claimed), pvc("data", "resources: {}", ""), fmt.Sprintf(class, "gold", "true", "a.b"), fmt.Sprintf(class, "iron", "true", "c.d")}, "which class is the default isn't known"},
		"class, old way":  {[]string{pod("a", "", claimed), pvc("data", "", "volume.beta.kubernetes.io/storage-class: gold"), fmt.Sprintf(class, "gold", "false", "kubernetes.io/azure-disk")}, "disk.csi.azure.com|kubernetes.io/azure-disk||"},
		"class, both":     {[]string{pod("a", "", claimed), pvc("data", "storageClassName: gold", "volume.beta.kubernetes.io/storage-class: old"), fmt.Sprintf(class, "gold", "false", "kubernetes.io/azure-disk")}, "disk.csi.azure.com|kubernetes.io/azure-disk||"},
		"class not read":  {[]string{pod("a", "", claimed), pvc("data", "storageClassName: gold", "")}, "StorageClass gold wasn't read"},
		"inline in-tree":  {[]string{pod("a", "win-1", "{name: data, azureFile: {secretName: s, shareName: t}}")}, "file.csi.azure.com|kubernetes.io/azure-file||"},
		"inline CSI":      {[]string{pod("a", "win-1", "{name: data, csi: {driver: secrets-store.csi.k8s.io}}")}, "secrets-store.csi.k8s.io|||"},
		"ephemeral":       {[]string{pod("a", "win-1", "{name: data, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: gold}}}}"), pvc("a-data", "volumeName: v", ""), pv("v", "csi: {driver: disk.csi.azure.com, volumeHandle: x}", "")}, "disk.csi.azure.com||v|"},
		"ephemeral alone": {[]string{pod("a", "win-1", "{name: data, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: gold}}}}"), fmt.Sprintf(class, "gold", "false", "disk.csi.azure.com")}, "disk.csi.azure.com|||"},
		"NFS":             {[]string{pod("a", "win-1", claimed), pvc("data", "volumeName: v", ""), pv("v", "nfs: {server: x, path: /}", "")}, "none"},
		"emptyDir":        {[]string{pod("a", "win-1", "{name: data, emptyDir: {}}")}, "none"},
	} {
		inv := collect(t, Options{}, c.docs...).Inventory()
		got := "none"
		if len(inv.Volumes) == 1 {
			u := inv.Volumes[0]
			got = strings.Join([]string{u.Provisioner, u.InTree, u.PV, u.MigratedTo}, "|")
			if u.Provisioner == "" {
				got = u.Reason
			}
		}
		if !strings.HasSuffix(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWindowsPods(t *testing.T) {
	inline := "{name: data, csi: {driver: smb.csi.k8s.io}}"
	bare := strings.Replace(pod("a", "NODE", inline), "nodeSelector: {kubernetes.io/os: windows}, ", "", 1)
	for name, c := range map[string]struct {
		docs []string
		want int
	}{
		"on a Windows node":           {[]string{windowsNodeYAML, strings.Replace(bare, "NODE", "win-1", 1)}, 1},
		"node comes later":            {[]string{strings.Replace(bare, "NODE", "win-1", 1), windowsNodeYAML}, 1},
		"on a Linux node":             {[]string{linuxNodeYAML, strings.Replace(bare, "NODE", "lin-1", 1)}, 0},
		"Linux node comes later":      {[]string{strings.Replace(bare, "NODE", "lin-1", 1), linuxNodeYAML}, 0},
		"unscheduled, no selector":    {[]string{strings.Replace(bare, "NODE", "", 1)}, 0},
		"unscheduled with selector":   {[]string{pod("a", "", inline)}, 1},
		"unscheduled with os.name":    {[]string{strings.Replace(strings.Replace(bare, "NODE", "", 1), "spec: {", "spec: {os: {name: windows}, ", 1)}, 1},
		"unscheduled with affinity":   {[]string{strings.Replace(strings.Replace(bare, "NODE", "", 1), "spec: {", "spec: {affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/os, operator: In, values: [windows]}]}]}}}, ", 1)}, 1},
		"node that nobody read":       {[]string{strings.Replace(bare, "NODE", "win-9", 1)}, 0},
		"selector, node not read":     {[]string{pod("a", "win-9", inline)}, 1},
		"ended":                       {[]string{windowsNodeYAML, strings.Replace(pod("a", "win-1", inline), "Running", "Succeeded", 1)}, 0},
		"failed":                      {[]string{windowsNodeYAML, strings.Replace(pod("a", "win-1", inline), "Running", "Failed", 1)}, 0},
		"pending":                     {[]string{strings.Replace(pod("a", "", inline), "Running", "Pending", 1)}, 1},
		"twice, by a page read again": {[]string{pod("a", "win-1", inline), pod("a", "win-1", inline)}, 1},
	} {
		if got := len(collect(t, Options{}, c.docs...).Inventory().Volumes); got != c.want {
			t.Errorf("%s: %d volumes, want %d", name, got, c.want)
		}
	}
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    spec:
      nodeSelector: {kubernetes.io/os: windows}
      containers: [{name: a, image: b}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
`

const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  template:
    spec:
      nodeSelector: {kubernetes.io/os: windows}
      containers: [{name: a, image: b, volumeMounts: [{name: data, mountPath: /d}]}]
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: gold}}]
`

func TestTemplates(t *testing.T) {
	owned := strings.Replace(pod("web-abc12-x", "win-1", claimed), "namespace: shop}", "namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-abc12, uid: u, controller: true}]}", 1)
	class := "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: gold}\nprovisioner: disk.csi.azure.com"
	cronJob := "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: shop}\nspec: {jobTemplate: {spec: {template: {spec: {os: {name: windows}, containers: [{name: a, image: b}], volumes: [" + claimed + "]}}}}}"
	run := strings.NewReplacer("web-abc12-x", "c-123-x", "web-abc12", "c-123", "apps/v1", "batch/v1", "ReplicaSet", "Job").Replace(owned)
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: c, namespace: shop}\nspec: {template: {spec: {os: {name: windows}, containers: [{name: a, image: b}], volumes: [" + claimed + "]}}}\nstatus: {conditions: [{type: "
	for name, c := range map[string]struct {
		docs []string
		want string
	}{
		"Deployment":        {[]string{deployment}, "Deployment shop/web data"},
		"of an operator":    {[]string{strings.Replace(deployment, "namespace: shop", "namespace: shop, ownerReferences: [{apiVersion: example.com/v1, kind: Shop, name: s, uid: u, controller: true}]", 1)}, "Deployment shop/web data"},
		"with its pod":      {[]string{deployment, owned}, "Pod shop/web-abc12-x data"},
		"with another pod":  {[]string{deployment, strings.ReplaceAll(owned, "web-abc12", "website-abc12")}, "Deployment shop/web data, Pod shop/website-abc12-x data"},
		"scaled to nothing": {[]string{strings.Replace(deployment, "spec:\n", "spec:\n  replicas: 0\n", 1)}, ""},
		"on Linux":          {[]string{strings.Replace(deployment, "windows", "linux", 1)}, ""},
		"StatefulSet":       {[]string{statefulSet, class}, "StatefulSet shop/db data-db-0 disk.csi.azure.com"},
		"its pod failed":    {[]string{deployment, strings.Replace(owned, "Running", "Failed", 1)}, "Deployment shop/web data"},
		"CronJob":           {[]string{cronJob}, "CronJob shop/c data"},
		"CronJob that runs": {[]string{cronJob, run}, "Pod shop/c-123-x data"},
		"CronJob that ran":  {[]string{cronJob, strings.Replace(run, "Running", "Succeeded", 1)}, "CronJob shop/c data"},
		"suspended CronJob": {[]string{strings.Replace(cronJob, "jobTemplate", "suspend: true, jobTemplate", 1)}, ""},
		"Job that tries":    {[]string{job + "Failed, status: 'False'}]}", strings.Replace(strings.ReplaceAll(run, "c-123", "c"), "Running", "Failed", 1)}, "Job shop/c data"},
		"Job that failed":   {[]string{job + "Failed, status: 'True'}]}"}, ""},
		"suspended Job":     {[]string{strings.Replace(job, "template", "suspend: true, template", 1) + "Suspended, status: 'True'}]}"}, ""},
		"ended Job":         {[]string{"apiVersion: batch/v1\nkind: Job\nmetadata: {name: c, namespace: shop}\nspec: {template: {spec: {os: {name: windows}, containers: [{name: a, image: b}], volumes: [" + claimed + "]}}}\nstatus: {completionTime: '2026-01-01T00:00:00Z'}"}, ""},
		"DeploymentConfig":  {[]string{"apiVersion: apps.openshift.io/v1\nkind: DeploymentConfig\nmetadata: {name: c, namespace: shop}\nspec: {template: {spec: {os: {name: windows}, containers: [{name: a, image: b}], volumes: [" + claimed + "]}}}"}, "DeploymentConfig shop/c data"},
		"owned ReplicaSet":  {[]string{"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: c, namespace: shop, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: c, uid: u, controller: true}]}\nspec: {template: {spec: {os: {name: windows}, containers: [{name: a, image: b}], volumes: [" + claimed + "]}}}"}, ""},
	} {
		col := collect(t, Options{}, c.docs...)
		if n := len(col.Inventory().Volumes); n != strings.Count(c.want, "Pod ") {
			t.Errorf("%s: %d volumes though templates don't count in a cluster", name, n)
		}
		col.CountTemplates()
		var got []string
		for _, u := range col.Inventory().Volumes {
			got = append(got, strings.TrimSpace(u.Pod.String()+" "+u.Claim+" "+u.Provisioner))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

func TestLeftovers(t *testing.T) {
	inv := collect(t, Options{},
		pv("old", "azureDisk: {diskName: x, diskURI: z}", "pv.kubernetes.io/migrated-to: disk.csi.azure.com, pv.kubernetes.io/provisioned-by: kubernetes.io/azure-disk"),
		pv("own", "azureDisk: {diskName: x, diskURI: z}", ""),
		pv("new", "csi: {driver: disk.csi.azure.com, volumeHandle: x}", ""),
		pvc("made", "volumeName: old", "volume.beta.kubernetes.io/storage-provisioner: kubernetes.io/azure-disk"),
		pvc("other", "volumeName: new", "volume.kubernetes.io/storage-provisioner: disk.csi.azure.com"),
	).Inventory()
	if len(inv.Leftovers) != 3 {
		t.Fatalf("%+v", inv.Leftovers)
	}
	old := inv.Leftovers[0]
	if old.Object.Name != "old" || old.InTree != "kubernetes.io/azure-disk" || old.Provisioner != "disk.csi.azure.com" || old.MigratedTo != "disk.csi.azure.com" {
		t.Errorf("%+v", old)
	}
	for i, want := range []string{"kubernetes.io/azure-disk", "", "kubernetes.io/azure-disk"} {
		if got := inv.Leftovers[i]; got.ProvisionedBy != want {
			t.Errorf("%s was made by %q, want %q", got.Object, got.ProvisionedBy, want)
		}
	}
	if inv.Leftovers[2].Object.Name != "made" {
		t.Errorf("%+v", inv.Leftovers[2])
	}
}

// What keeps a pod to Windows nodes needn't name Windows: it may be a label that
// only they have, or a RuntimeClass.
func TestPodsThatOnlyWindowsTakes(t *testing.T) {
	win := strings.Replace(windowsNodeYAML, "{kubernetes.io/os", "{pool: win, size: '4', kubernetes.io/arch: amd64, kubernetes.io/os", 1)
	lin := strings.Replace(linuxNodeYAML, "{name: lin-1}", "{name: lin-1, labels: {pool: lin, size: '8', kubernetes.io/arch: amd64}}", 1)
	const tolerated = "tolerations: [{key: os, operator: Equal, value: Windows, effect: NoSchedule}], "
	affine := func(expression string) string {
		return "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{" + expression + "}]}]}}}, "
	}
	class := "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: win}\nhandler: x\nscheduling: {SCHEDULING}"
	classOf := func(scheduling string) string { return strings.Replace(class, "SCHEDULING", scheduling, 1) }
	for name, c := range map[string]struct {
		spec string
		docs []string
		want bool
	}{
		"a label of theirs":          {tolerated + "nodeSelector: {pool: win}", []string{win, lin}, true},
		"no Linux node read":         {tolerated + "nodeSelector: {pool: win}", []string{win}, true},
		"no node read":               {tolerated + "nodeSelector: {pool: win}", nil, false},
		"a label of Linux nodes":     {tolerated + "nodeSelector: {pool: lin}", []string{win, lin}, false},
		"a label of both":            {tolerated + "nodeSelector: {kubernetes.io/arch: amd64}", []string{win, lin}, false},
		"a label of all nodes":       {tolerated + "nodeSelector: {kubernetes.io/arch: amd64}", []string{win}, false},
		"a label of no node":         {tolerated + "nodeSelector: {pool: other}", []string{win, lin}, false},
		"the taint isn't tolerated":  {"nodeSelector: {pool: win}", []string{win}, false},
		"nor is it, but Linux lacks": {"nodeSelector: {pool: win}", []string{win, lin}, true},
		"affinity":                   {tolerated + affine("key: pool, operator: In, values: [win]"), []string{win, lin}, true},
		"affinity to more than four": {tolerated + affine("key: size, operator: Gt, values: ['4']"), []string{win, lin}, false},
		"what all others lack":       {tolerated + affine("key: gpu, operator: DoesNotExist"), []string{win}, false},
		"nothing":                    {tolerated, []string{win}, false},
		"class":                      {"runtimeClassName: win", []string{classOf("nodeSelector: {kubernetes.io/os: windows}")}, true},
		"class by the build":         {"runtimeClassName: win", []string{classOf("nodeSelector: {node.kubernetes.io/windows-build: 10.0.20348}")}, true},
		"class by a label":           {"runtimeClassName: win", []string{win, lin, classOf("nodeSelector: {pool: win}, tolerations: [{key: os, operator: Exists}]")}, true},
		"class of Linux":             {"runtimeClassName: win, nodeSelector: {pool: win}", []string{win, classOf("nodeSelector: {kubernetes.io/os: linux}")}, false},
		"class without scheduling":   {"runtimeClassName: win", []string{win, strings.Replace(class, "scheduling: {SCHEDULING}", "", 1)}, false},
		"class that wasn't read":     {"runtimeClassName: win", []string{win}, false},
	} {
		spec := "{" + strings.TrimSuffix(c.spec, ", ") + ", containers: [{name: a, image: b}], volumes: [" + claimed + "]}"
		for kind, doc := range map[string]string{
			"Pod":        "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec: " + spec,
			"Deployment": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {template: {spec: " + spec + "}}",
		} {
			col := collect(t, Options{}, append([]string{doc}, c.docs...)...)
			col.CountTemplates()
			if got := len(col.Inventory().Volumes) == 1; got != c.want {
				t.Errorf("%s, %s: %v", name, kind, got)
			}
			if got := col.Workloads() == 1; got != (c.want && kind == "Deployment") {
				t.Errorf("%s, %s: %d workloads", name, kind, col.Workloads())
			}
		}
	}
}
