package manifests

import (
	"strings"
	"testing"
)

// What isn't read is told of, with what would have it read.
func TestToldOf(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		where, what string
		fix         string
	}{
		"a near kind":         {map[string]string{"a.yaml": strings.Replace(smb, "kind: DaemonSet", "kind: Daemonset", 1)}, "m/a.yaml:1", "there is no kind Daemonset", "kind: DaemonSet"},
		"a near kind in JSON": {map[string]string{"a.json": `{"apiVersion": "v1", "kind": "node", "metadata": {"name": "x"}}`}, "m/a.json:1", "there is no kind node", "kind: Node"},
		"a list cut off":      {map[string]string{"a.yaml": "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: {name: x}\n- apiVersion: v1\n  kind: No\n"}, "m/a.yaml:1", "a list has no kind", "copy the file again"},
		"jinja":               {map[string]string{"ds.yaml.j2": smb}, "m/ds.yaml.j2", "this is a template, and wasn't read", "render it"},
		"a template":          {map[string]string{"ds.tpl": smb}, "m/ds.tpl", "this is a template", "render it"},
		"compressed":          {map[string]string{"it's.yaml.gz": "x"}, "m/it's.yaml.gz", "this is compressed", `gunzip -k 'm/it'\''s.yaml.gz'`},
		"an archive":          {map[string]string{"all.tgz": "x"}, "m/all.tgz", "this is an archive", "unpack it"},
		"a policy":            {map[string]string{"a.yaml": held("policy.open-cluster-management.io/v1", "Policy")}, "m/a.yaml:1", "Policy held may bring a CSI driver", "oc get daemonsets"},
		"a configuration":     {map[string]string{"a.yaml": held("policy.open-cluster-management.io/v1", "ConfigurationPolicy")}, "m/a.yaml:1", "ConfigurationPolicy held may", "oc get"},
		"a manifest work":     {map[string]string{"a.yaml": held("work.open-cluster-management.io/v1", "ManifestWork")}, "m/a.yaml:1", "ManifestWork held may", "oc get"},
		"a sync set":          {map[string]string{"a.yaml": held("hive.openshift.io/v1", "SelectorSyncSet")}, "m/a.yaml:1", "SelectorSyncSet held may", "oc get"},
		"a Helm release":      {map[string]string{"a.yaml": "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: smb}\nspec: {chart: {spec: {chart: csi-driver-smb}}}\n"}, "m/a.yaml:1", "HelmRelease smb may", "oc get"},
		"an application":      {map[string]string{"a.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: s}\nspec: {source: {path: storage/azurefile-CSI}}\n"}, "m/a.yaml:1", "Application s may", "oc get"},
		"Flux":                {map[string]string{"a.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: s}\nspec: {path: ./csi}\n"}, "m/a.yaml:1", "Kustomization s may", "oc get"},
		"an operator":         {map[string]string{"a.yaml": "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: csi-operator.v1}\n"}, "m/a.yaml:1", "ClusterServiceVersion csi-operator.v1 may", "oc get"},
		"Trident":             {map[string]string{"a.yaml": "apiVersion: trident.netapp.io/v1\nkind: TridentOrchestrator\nmetadata: {name: trident}\nspec: {windows: true}\n"}, "m/a.yaml:1", "TridentOrchestrator trident may", "oc get"},
	} {
		files := map[string]string{"m/fine.yaml": namespace}
		for file, content := range c.files {
			files["m/"+file] = content
		}
		tree(t, files)
		inv, _, err := read(t, "m")
		if err != nil || len(inv.Problems) != 1 || len(inv.Cluster.Namespaces) != 1 {
			t.Errorf("%s: %v, %v", name, err, inv.Problems)
			continue
		}
		if p := inv.Problems[0]; !strings.HasPrefix(p.Where, c.where) || !strings.HasPrefix(p.What, c.what) || p.Fix == "" || !strings.Contains(p.Fix+" "+p.Command, c.fix) {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func held(apiVersion, kind string) string {
	return "apiVersion: " + apiVersion + "\nkind: " + kind + "\nmetadata: {name: held}\nspec:\n  any:\n  -\n    " + strings.ReplaceAll(strings.TrimSpace(smb), "\n", "\n    ") + "\n"
}

// What speaks of no driver, and what holds nothing, is passed over.
func TestNotToldOf(t *testing.T) {
	tree(t, map[string]string{
		"m/fine.yaml": namespace, "m/README.md": "x", "m/script.sh": "x", "m/templates/_helpers.tpl": "x", "m/logo.png": "x", "m/values.txt.gz": "x",
		"m/app.yaml":  "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop}\nspec: {source: {path: shop}}\n",
		"m/wmco.yaml": "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: windows-machine-config-operator.v10.19.1}\nspec: {description: csi-proxy}\n",
		"m/yaml.yaml": "%YAML 1.2\n---\n" + strings.TrimPrefix(node, "---\n"),
	})
	inv, _, err := read(t, "m")
	if err != nil || len(inv.Problems) != 0 || len(inv.Nodes) != 1 || inv.Cluster.WMCO != "10.19.1" {
		t.Errorf("%v, problems %v, nodes %v, WMCO %q", err, inv.Problems, inv.Nodes, inv.Cluster.WMCO)
	}
}

// A folder that holds nothing but what isn't read says so.
func TestOnlyTemplates(t *testing.T) {
	tree(t, map[string]string{"m/ds.yaml.j2": smb})
	if _, _, err := read(t, "m"); err == nil || !strings.Contains(err.Error(), "this is a template") {
		t.Errorf("%v", err)
	}
}
