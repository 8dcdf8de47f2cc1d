package manifests

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winbake/winbake/internal/base/fault"
	"github.com/winbake/winbake/internal/cluster/inventory"
	"github.com/winbake/winbake/internal/cluster/inventory/kube"
)

// tree writes files below a new folder and goes there, so that evidence has
// short names.
func tree(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, paths ...string) (*inventory.Inventory, inventory.Source, error) {
	t.Helper()
	c := kube.NewCollector(kube.Options{Catalog: drivers()})
	src, err := Read(t.Context(), c, paths, nil)
	return c.Inventory(), src, err
}

const node = "apiVersion: v1\nkind: Node\nmetadata: {name: win-1, labels: {kubernetes.io/os: windows}}\n"

func TestFolder(t *testing.T) {
	tree(t, map[string]string{
		"m/driver.yaml":         "# the driver\n---\n" + smb,
		"m/deep/er/nodes.YML":   node + namespace,
		"m/list.json":           `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",` + "\n" + `"metadata": {"name": "win-1"}, "spec": {"drivers": []}}]}`,
		"m/values.yaml":         "image: {tag: x}\n",
		"m/README.md":           "kind: DaemonSet\n",
		"m/.git/config.yaml":    "a: [",
		"m/empty.yaml":          "",
		"elsewhere/driver.yaml": "a: [",
	})
	inv, src, err := read(t, "m", "m/driver.yaml", "./m")
	if err != nil || len(inv.Problems) != 0 {
		t.Fatalf("%v; problems %v", err, inv.Problems)
	}
	if want := (inventory.Source{Kind: "manifests", Name: "m, m/driver.yaml, ./m", Detail: "5 files, 5 documents, 1 no Kubernetes objects"}); src != want {
		t.Errorf("source %+v, want %+v", src, want)
	}
	if len(inv.Drivers) != 1 || len(inv.Nodes) != 1 || len(inv.CSINodes) != 1 || len(inv.Cluster.Namespaces) != 1 {
		t.Fatalf("%d drivers, %d nodes, %d CSINodes, namespaces %v", len(inv.Drivers), len(inv.Nodes), len(inv.CSINodes), inv.Cluster.Namespaces)
	}
	d := inv.Drivers[0]
	if d.Version.At.Where != "m/driver.yaml:3" || d.Pipes[0].At.Where != "m/driver.yaml:3" {
		t.Errorf("evidence %v, %v", d.Version.At, d.Pipes[0].At)
	}
	if at := inv.CSINodes[0].At.Where; at != "m/list.json:1" {
		t.Errorf("evidence %s", at)
	}
}

func TestCoverage(t *testing.T) {
	tree(t, map[string]string{"a/driver.yaml": smb, "a/node.yaml": node, "b/driver.yaml": smb, "b/broken.yaml": "a: ["})
	inv, _, err := read(t, "a")
	if err != nil {
		t.Fatal(err)
	}
	for resource, want := range map[inventory.Resource]inventory.Coverage{
		inventory.DaemonSets: {Complete: true, Count: 1},
		inventory.Nodes:      {Complete: true, Count: 1},
		inventory.CSINodes:   {Reason: "not in these manifests"},
		inventory.Pods:       {Reason: "not in these manifests"},
	} {
		if got := inv.Read[resource]; got != want {
			t.Errorf("%s: %+v, want %+v", resource, got, want)
		}
	}
	inv, _, err = read(t, "b")
	if got, want := inv.Read[inventory.DaemonSets], (inventory.Coverage{Count: 1, Reason: "1 input couldn't be read", Told: true}); err != nil || got != want {
		t.Errorf("beside a broken file: %+v, %v; want %+v", got, err, want)
	}
}

// A template's problem names the command that renders it.
func TestRender(t *testing.T) {
	templated := strings.Replace(smb, "  name: smb", "  name: {{ .Release.Name }}", 1)
	tree(t, map[string]string{
		"chart/Chart.yaml":         "apiVersion: v2\nname: smb\n",
		"chart/templates/win.yaml": templated + "---\n" + templated,
		"plain/namespace.yaml":     namespace,
		"alone/win.yaml":           templated,
		"shell/win.yaml":           strings.Replace(smb, "v1.17.0", "${TAG}", 1),
	})
	inv, _, err := read(t, ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range inv.Problems {
		if p.Fix != "give only the manifests that are applied to this cluster" {
			got = append(got, strings.TrimSpace(p.Where+" "+p.Command))
		}
	}
	slices.Sort(got)
	want := []string{
		"alone/win.yaml:4", // its chart isn't there
		"chart/templates/win.yaml:4 helm template chart > rendered.yaml",
		"shell/win.yaml:1 envsubst < shell/win.yaml > rendered.yaml",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestPaths(t *testing.T) {
	tree(t, map[string]string{"empty/README.md": "", "odd/namespace.txt": namespace, "odd/broken.yaml": "a: ["})
	for want, paths := range map[string][]string{
		"gone: can't read the manifests: no such file or directory": {"gone"},
		"empty: there are no *.yaml":                                {"empty"},
		"odd/broken.yaml:1: this isn't YAML":                        {"odd"},
		"there is no standard input":                                {"-"},
	} {
		if _, _, err := read(t, paths...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", paths, err, want)
		}
	}
	if _, _, err := read(t, "odd/namespace.txt"); err != nil {
		t.Errorf("a file that is named counts, whatever its ending: %v", err)
	}
	_, _, err := read(t, "odd")
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Where == "" || f.What == "" {
		t.Errorf("%#v", err)
	}
}

func TestLinks(t *testing.T) {
	tree(t, map[string]string{"real/namespace.yaml": namespace, "m/node.yaml": node, "apart/csinode.yaml": "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: win-1}\nspec: {drivers: []}\n"})
	for link, to := range map[string]string{
		"m/file.yaml": "../real/namespace.yaml", "m/folder": "../real", "m/again": "../real", "m/loop": ".", "m/up": "..", "m/gone.yaml": "nowhere", "alias": "m", "twice": "alias",
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, given := range []string{"m", "alias", "twice", "m/", "alias/"} {
		inv, src, err := read(t, given)
		if err != nil || len(inv.Cluster.Namespaces) != 1 || len(inv.Nodes) != 1 || len(inv.CSINodes) != 1 || len(inv.Problems) != 1 || !strings.HasPrefix(src.Detail, "3 files") {
			t.Errorf("%s: %v; %v, namespaces %v, nodes %v, problems %v", given, err, src, inv.Cluster.Namespaces, inv.Nodes, inv.Problems)
		}
	}
}

// A folder that kustomize builds isn't read, and never passed over.
func TestKustomize(t *testing.T) {
	tree(t, map[string]string{
		"base/Kustomization":               "resources: [ds.yaml]\n",
		"base/ds.yaml":                     smb,
		"overlays/it's/kustomization.yaml": "resources: [../../base]\nnamespace: prod\n",
		"overlays/it's/patches/ds.yaml":    smb,
		"nodes/nodes.yaml":                 node,
		"flux/kustomization.yaml":          "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec: {interval: 5m, path: ./b}\n",
		"flux/ds.yaml":                     smb,
	})
	for _, c := range []struct {
		paths          []string
		drivers, nodes int
		problems       []string
	}{
		{[]string{"."}, 1, 1, []string{"kustomize build base | verify skew --manifests -", `kustomize build 'overlays/it'\''s' | verify skew --manifests -`}},
		{[]string{"base"}, 0, 0, []string{"kustomize build base | verify skew --manifests -"}},
		{[]string{"base/Kustomization", "nodes"}, 0, 1, []string{"kustomize build base | verify skew --manifests -"}},
		{[]string{"flux"}, 1, 0, nil},
	} {
		inv, _, err := read(t, c.paths...)
		if err != nil || len(inv.Drivers) != c.drivers || len(inv.Nodes) != c.nodes {
			t.Errorf("%q: %v, %d drivers, %d nodes", c.paths, err, len(inv.Drivers), len(inv.Nodes))
		}
		var commands []string
		for _, p := range inv.Problems {
			commands = append(commands, p.Command)
		}
		if !slices.Equal(commands, c.problems) {
			t.Errorf("%q: %q", c.paths, commands)
		}
		if cov := inv.Read[inventory.DaemonSets]; cov.Complete != (c.problems == nil) {
			t.Errorf("%q: %+v", c.paths, cov)
		}
	}
	if inv, _, err := stdin(t, namespace+"---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n"); err != nil || len(inv.Problems) != 1 || !strings.Contains(inv.Problems[0].What, "this is a kustomization") {
		t.Errorf("among other documents: %v, %v", err, inv.Problems)
	}
}

// slow is an input that never ends.
type slow struct{ cancel context.CancelFunc }

func (s slow) Read(p []byte) (int, error) {
	s.cancel()
	return copy(p, "a: b\n"), nil
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Read(ctx, kube.NewCollector(kube.Options{}), []string{"-"}, slow{cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestBrokenInput(t *testing.T) {
	_, err := Read(t.Context(), kube.NewCollector(kube.Options{}), []string{"-"}, io.MultiReader(strings.NewReader(namespace), broken{}))
	if err == nil || !strings.Contains(err.Error(), "the pipe broke") {
		t.Errorf("%v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }

// Who gives some Nodes gives them all, unless something else tells of more; and
// of two copies that differ neither is sure.
func TestNodesThatAreMissing(t *testing.T) {
	csiNode := func(name, drivers string) string {
		return "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: " + name + "}\nspec: {drivers: [" + drivers + "]}\n"
	}
	tree(t, map[string]string{
		"whole.yaml":   node + csiNode("win-1", ""),
		"missing.yaml": node + csiNode("win-1", "") + csiNode("win-2", ""),
		"other.yaml":   csiNode("win-1", "{name: smb.csi.k8s.io, nodeID: n}"),
	})
	for _, c := range []struct {
		files    []string
		reason   string
		problems int
	}{
		{[]string{"whole.yaml"}, "", 0},
		{[]string{"missing.yaml"}, "nodes that CSINodes or pods name aren't in these manifests: win-2", 0},
		{[]string{"whole.yaml", "other.yaml"}, "", 1},
	} {
		inv, _, err := read(t, c.files...)
		if err != nil {
			t.Fatal(err)
		}
		if cov := inv.Read[inventory.Nodes]; cov.Reason != c.reason || cov.Complete != (c.reason == "") {
			t.Errorf("%v: %+v", c.files, cov)
		}
		if len(inv.Problems) != c.problems || c.problems > 0 && inv.Problems[0].Where != "other.yaml:2" {
			t.Errorf("%v: problems %v", c.files, inv.Problems)
		}
	}
}

// A typed List without an item says that there are none; one that isn't typed says nothing.
func TestEmptyLists(t *testing.T) {
	const node = "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {kubernetes.io/os: linux}}\n---\n"
	for text, complete := range map[string]bool{
		"apiVersion: v1\nkind: PodList\nitems: []\n":              true,
		`{"apiVersion": "v1", "kind": "PodList", "items": []}`:    true,
		"apiVersion: v1\nkind: List\nitems: []\n":                 false,
		"apiVersion: example.com/v1\nkind: PodList\nitems: []\n":  false,
		"apiVersion: v1\nkind: PersistentVolumeList\nitems: []\n": false,
	} {
		c := kube.NewCollector(kube.Options{})
		if _, err := Read(t.Context(), c, []string{"-"}, strings.NewReader(node+text)); err != nil {
			t.Fatal(err)
		}
		if got := c.Inventory().Read[inventory.Pods]; got.Complete != complete {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
