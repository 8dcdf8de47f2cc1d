package kube

import (
	"strings"
	"testing"
)

// problemsOf are what the documents' problems say.
func problemsOf(t *testing.T, docs ...string) string {
	t.Helper()
	var out []string
	for _, p := range collect(t, Options{}, docs...).Inventory().Problems {
		if p.Fix == "" || p.Where == "" {
			t.Errorf("%+v has no place or no fix", p)
		}
		out = append(out, p.Where+" "+p.What)
	}
	return strings.Join(out, "\n")
}

func TestPluginFaults(t *testing.T) {
	const pipe = "nodeSelector: {kubernetes.io/os: windows}\ncontainers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0', volumeMounts: [{name: p, mountPath: 'P'}]}]\nvolumes: [{name: p, hostPath: {path: 'P'}}]"
	for name, c := range map[string]struct{ doc, want string }{
		"fine":                {smb("nodeSelector: {kubernetes.io/os: windows}"), ""},
		"a capital":           {smb("nodeSelector: {kubernetes.io/os: Windows}"), "asks for kubernetes.io/os: Windows, which no node has"},
		"the old label":       {smb("nodeSelector: {beta.kubernetes.io/os: WINDOWS}"), "asks for beta.kubernetes.io/os: WINDOWS"},
		"deleted":             {strings.Replace(smb("os: {name: windows}"), "namespace: storage}", "namespace: storage, deletionTimestamp: '2026-11-22T10:00:00Z'}", 1), "is being deleted"},
		"a pipe":              {smb(strings.ReplaceAll(pipe, "'P'", `'\\.\pipe\csi-proxy-smb-v1'`)), ""},
		"a pipe in quotes":    {smb(strings.ReplaceAll(pipe, "'P'", `"\\\\.\\pipe\\csi-proxy-smb-v1"`)), ""},
		"a doubled pipe":      {smb(strings.ReplaceAll(pipe, "'P'", `'\\\\.\\pipe\\csi-proxy-smb-v1'`)), "no pipe has that name"},
		"a half doubled pipe": {smb(strings.ReplaceAll(pipe, "'P'", `'\\.\\pipe\\csi-proxy-smb-v1'`)), "no pipe has that name"},
	} {
		got := problemsOf(t, c.doc)
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if d := driver(t, c.doc); d.OS != "windows" || d.Deleting != (name == "deleted") {
			t.Errorf("%s: %q, deleting %v", name, d.OS, d.Deleting)
		}
	}
	inv := collect(t, Options{}, smb(strings.ReplaceAll(pipe, "'P'", `'\\\\.\\pipe\\csi-proxy-smb-v1'`))).Inventory()
	if fix := inv.Problems[0].Fix; fix != `path: '\\.\pipe\csi-proxy-smb-v1'` {
		t.Errorf("fix %s", fix)
	}
}

// A class that was read says where a DaemonSet's pods run; one that wasn't is
// told of where nothing else says it.
func TestClassOfDaemonSet(t *testing.T) {
	class := "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: win}\nhandler: x\nscheduling: {nodeSelector: {kubernetes.io/os: windows, pool: a}, tolerations: [{key: os, operator: Exists}]}"
	bare := "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: win}\nhandler: x"
	ds := smb("runtimeClassName: win")
	for _, docs := range [][]string{{class, ds}, {ds, class}} {
		d := driver(t, docs...)
		if s := d.Scheduling; d.OS != "windows" || s.NodeSelector["pool"] != "a" || len(s.Tolerations) != 1 || problemsOf(t, docs...) != "" {
			t.Errorf("%+v", d)
		}
	}
	if got := problemsOf(t, ds); !strings.Contains(got, "the RuntimeClass win, which wasn't read") || driver(t, ds).OS != "" {
		t.Errorf("without the class: %q", got)
	}
	if got := problemsOf(t, smb("runtimeClassName: win\nos: {name: windows}")); got != "" {
		t.Errorf("its own system is enough: %q", got)
	}
	if d := driver(t, ds, bare); d.OS != "" || problemsOf(t, ds, bare) != "" {
		t.Errorf("a class without scheduling: %q", d.OS)
	}
}

// A node plugin is listed whatever it runs as, and a controller isn't one.
func TestPluginsElsewhere(t *testing.T) {
	const spec = "{nodeSelector: {kubernetes.io/os: OS}, containers: [{name: smb, image: 'x/sig-storage/smbplugin:v1.17.0'}SIDECAR]}"
	const registrar = ", {name: node-driver-registrar, image: 'x/csi-node-driver-registrar:v2.10.0', args: ['--kubelet-registration-path=C:\\var\\lib\\kubelet\\plugins\\smb.csi.k8s.io\\csi.sock']}"
	const provisioner = ", {name: csi-provisioner, image: 'x/csi-provisioner:v4.0.0'}"
	for name, c := range map[string]struct {
		doc  string
		want bool
	}{
		"Deployment":                 {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\nspec: {template: {spec: SPEC}}", true},
		"Deployment of an operator":  {"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b, ownerReferences: [{apiVersion: example.com/v1, kind: Driver, name: x, uid: u, controller: true}]}\nspec: {template: {spec: SPEC}}", true},
		"StatefulSet":                {"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a, namespace: b}\nspec: {template: {spec: SPEC}}", true},
		"Pod":                        {"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec: SPEC", true},
		"owned Pod":                  {"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: x, uid: u, controller: true}]}\nspec: SPEC", false},
		"ReplicaSet of a Deployment": {"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a, namespace: b, ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: x, uid: u, controller: true}]}\nspec: {template: {spec: SPEC}}", false},
	} {
		for _, v := range []struct {
			os, sidecar string
			plugin      bool
		}{{"windows", registrar, true}, {"linux", registrar, false}, {"windows", provisioner, false}} {
			doc := strings.Replace(c.doc, "SPEC", strings.NewReplacer("OS", v.os, "SIDECAR", v.sidecar).Replace(spec), 1)
			inv := collect(t, Options{}, doc).Inventory()
			want := c.want && v.plugin
			if got := len(inv.SetAside) == 1 && len(inv.Problems) == 1; got != want {
				t.Errorf("%s %s: set aside %v, problems %v", name, v.os, inv.SetAside, inv.Problems)
			}
			if want && !strings.Contains(inv.SetAside[0].Reason, "the node plugin of smb.csi.k8s.io") {
				t.Errorf("%s: %v", name, inv.SetAside)
			}
		}
	}
}

func TestMeant(t *testing.T) {
	c := NewCollector(Options{})
	for kind, want := range map[string]string{
		"apps/v1 Daemonset": "DaemonSet", "apps/v1 daemonset": "DaemonSet", "apps/v1 DaemonSets": "DaemonSet", "v1 node": "Node", "storage.k8s.io/v1 CsiNode": "CSINode",
		"apps/v1 DaemonSet": "", "v1 Service": "", "example.com/v1 daemonset": "", "v1 Daemonset": "",
	} {
		apiVersion, name, _ := strings.Cut(kind, " ")
		if got := c.Meant(apiVersion, name); got != want {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
