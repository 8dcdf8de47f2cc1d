package states

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// today is the day of every check, 2026-11-20, as SOURCE_DATE_EPOCH.
const today = "1795132800"

// asked are the arguments of verify that ask about a state; dir is where its
// objects are written.
func (s *state) asked(t *testing.T, dir string) []string {
	t.Helper()
	args := []string{"--manifests", filepath.Join(dir, "cluster.json")}
	if s.mustGather {
		args = []string{"--must-gather", filepath.Join(dir, "must-gather")}
		s.writeMustGather(t, filepath.Join(dir, "must-gather"))
	} else {
		write(t, filepath.Join(dir, "cluster.json"), listOf(t, s.cluster.objects()))
	}
	return append(args, s.about(t)...)
}

// about are the arguments that don't say what is read.
func (s *state) about(t *testing.T) []string {
	t.Helper()
	var args []string
	if s.to != "" {
		args = append(args, "--to", s.to)
	}
	return append(args, s.args...)
}

// listOf is what `oc get -o json` prints of several objects.
func listOf(t *testing.T, objects []any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(fields{"apiVersion": "v1", "kind": "List", "items": objects}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// writeMustGather lays the objects out as `oc adm inspect` does: a file for each
// cluster-scoped object, and a list for each kind of a namespace.
func (s *state) writeMustGather(t *testing.T, dir string) {
	t.Helper()
	lists := map[string][]any{}
	for _, ns := range s.cluster.namespaces() {
		if slices.Contains(s.without, ns) {
			continue
		}
		for _, kind := range []string{"core/pods", "core/persistentvolumeclaims", "core/configmaps", "apps/daemonsets"} {
			lists[filepath.Join(dir, "namespaces", ns, kind)] = []any{}
		}
	}
	for _, o := range unstructuredOf(t, s.cluster.objects()) {
		group, _, grouped := strings.Cut(o.GetAPIVersion(), "/")
		if !grouped {
			group = "core"
		}
		plural := strings.ToLower(o.GetKind()) + "s"
		switch ns := o.GetNamespace(); {
		case o.GetKind() == "Namespace":
			if !slices.Contains(s.without, o.GetName()) {
				write(t, filepath.Join(dir, "namespaces", o.GetName(), o.GetName()+".yaml"), yamlOf(t, o.Object))
			}
		case ns == "":
			write(t, filepath.Join(dir, "cluster-scoped-resources", group, plural, o.GetName()+".yaml"), yamlOf(t, o.Object))
		case !slices.Contains(s.without, ns):
			file := filepath.Join(dir, "namespaces", ns, group, plural)
			lists[file] = append(lists[file], o.Object)
		}
	}
	for file, items := range lists {
		kinds := map[string]string{"pods": "v1 PodList", "persistentvolumeclaims": "v1 PersistentVolumeClaimList", "configmaps": "v1 ConfigMapList", "daemonsets": "apps/v1 DaemonSetList"}
		version, kind, _ := strings.Cut(kinds[filepath.Base(file)], " ")
		if kind == "" {
			version, kind = "v1", "List"
		}
		write(t, file+".yaml", yamlOf(t, fields{"apiVersion": version, "kind": kind, "items": items}))
	}
	if s.spaces {
		var all []any
		for _, name := range s.cluster.namespaces() {
			all = append(all, fields{"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": name}})
		}
		write(t, filepath.Join(dir, "cluster-scoped-resources/core/namespaces.yaml"), yamlOf(t, fields{"apiVersion": "v1", "kind": "NamespaceList", "items": all}))
	}
	write(t, filepath.Join(dir, "version"), []byte("openshift/must-gather\n"+s.cluster.release+"-202610010000.p0\n"))
}

// namespaces are those that the objects are in.
func (c *cluster) namespaces() []string {
	list := []string{"openshift-config", "openshift-config-managed"}
	for _, s := range c.spaces {
		list = append(list, s.name)
	}
	return list
}

func yamlOf(t *testing.T, o any) []byte {
	t.Helper()
	text, err := yaml.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte("---\n"), text...)
}

// unstructuredOf are objects as the API server takes them.
func unstructuredOf(t *testing.T, objects []any) []*unstructured.Unstructured {
	t.Helper()
	var list []*unstructured.Unstructured
	for _, o := range objects {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := json.Unmarshal(text, &u.Object); err != nil {
			t.Fatal(err)
		}
		list = append(list, u)
	}
	return list
}
