package states

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/winbake/winbake/internal/base/finding"
)

// readsOnly is an oc that reads a cluster's objects from the file OBJECTS: get, and
// adm inspect, as far as outputs ask for them.
func readsOnly(args []string) int {
	if err := answersReads(args); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

func answersReads(args []string) error {
	text, err := os.ReadFile(os.Getenv("OBJECTS"))
	if err != nil {
		return err
	}
	list := &unstructured.UnstructuredList{}
	if err := json.Unmarshal(text, list); err != nil {
		return err
	}
	into, namespace := "", ""
	for i, a := range args {
		switch dir, found := strings.CutPrefix(a, "--dest-dir="); {
		case found:
			into = dir
		case a == "-n":
			namespace = args[i+1]
		}
	}
	if has(args, "adm", "inspect") {
		for _, word := range args[2:] {
			if strings.HasPrefix(word, "-") {
				break
			}
			if err := inspect(list.Items, word, namespace, into); err != nil {
				return err
			}
		}
		return nil
	}
	if !has(args, "get") || !slices.Contains(args, "yaml") {
		return fmt.Errorf("not played: %s", strings.Join(args, " "))
	}
	kinds := strings.Split(args[1], ",")
	items := []any{}
	for _, o := range list.Items {
		if slices.Contains(kinds, resourceNamed(&o)) && (o.GetNamespace() == "" || slices.Contains(args, "--all-namespaces")) {
			items = append(items, o.Object)
		}
	}
	out, err := yaml.Marshal(fields{"apiVersion": "v1", "kind": "List", "items": items})
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	return err
}

// resourceNamed is an object's resource as oc is asked for it: plural.group.
func resourceNamed(o *unstructured.Unstructured) string {
	gvr := resourceOf(o)
	return strings.TrimSuffix(gvr.Resource+"."+gvr.Group, ".")
}

// inspect writes what oc adm inspect does: a file for each object, and of a
// namespace a list for each kind.
func inspect(objects []unstructured.Unstructured, word, namespace, into string) error {
	lists := map[string][]any{}
	wanted, whole := strings.CutPrefix(word, "ns/")
	if whole {
		for _, kind := range []string{"core/pods", "core/persistentvolumeclaims", "core/configmaps", "apps/daemonsets"} {
			lists[filepath.Join(into, "namespaces", wanted, kind)] = []any{}
		}
	}
	for _, o := range objects {
		gvr := resourceOf(&o)
		group := gvr.Group
		if group == "" {
			group = "core"
		}
		var file string
		switch {
		case whole && o.GetKind() == "Namespace" && o.GetName() == wanted:
			file = filepath.Join(into, "namespaces", wanted, wanted+".yaml")
		case whole && o.GetNamespace() == wanted:
			list := filepath.Join(into, "namespaces", wanted, group, gvr.Resource)
			lists[list] = append(lists[list], o.Object)
		case o.GetNamespace() == "" && resourceNamed(&o) == word:
			file = filepath.Join(into, "cluster-scoped-resources", group, gvr.Resource, o.GetName()+".yaml")
		case o.GetNamespace() != "" && o.GetNamespace() == namespace && strings.ToLower(o.GetKind())+"/"+o.GetName() == word:
			file = filepath.Join(into, "namespaces", namespace, group, gvr.Resource, o.GetName()+".yaml")
		}
		if file != "" {
			if err := writeYAML(file, o.Object); err != nil {
				return err
			}
		}
	}
	for file, items := range lists {
		if err := writeYAML(file+".yaml", fields{"apiVersion": "v1", "kind": "List", "items": items}); err != nil {
			return err
		}
	}
	return nil
}

func writeYAML(file string, o any) error {
	text, err := yaml.Marshal(o)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o644)
	}
	return err
}

// What an input lacks is asked for once, by one action, and what its commands give
// is what the check takes: it then says what it says of the whole cluster.
func TestMissingIsAskedForOnce(t *testing.T) {
	t.Parallel()
	all := states()
	of := func(name string) *state {
		i := slices.IndexFunc(all, func(s state) bool { return s.name == name })
		if i < 0 {
			t.Fatalf("no state %q", name)
		}
		return &all[i]
	}
	for name, c := range map[string]struct {
		state *state
		// gone are what isn't in the must-gather; nil: the Windows drivers' manifests are
		// the input.
		gone []string
	}{
		"manifests of a driver": {of("azure-file one release on"), nil},
		"vSphere's manifests":   {of("vsphere two minors, one of them moves the driver"), nil},
		"nodes and CSINodes":    {of("azure-file one release on"), []string{"cluster-scoped-resources/core/nodes", "cluster-scoped-resources/storage.k8s.io"}},
		"most of it":            {of("azure-file one release on"), []string{"cluster-scoped-resources/core", "cluster-scoped-resources/storage.k8s.io", "namespaces/shop", "namespaces/openshift-config-managed", "namespaces/openshift-config", "namespaces/" + wmcoNS}},
		"the cluster's release": {of("azure-file one release on"), []string{"cluster-scoped-resources/config.openshift.io", "cluster-scoped-resources/machineconfiguration.openshift.io", "namespaces/openshift-config"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := *c.state
			whole := s
			whole.mustGather, whole.spaces = c.gone != nil, true
			want := judge(t, whole.asked(t, t.TempDir()))

			dir := t.TempDir()
			input, add := []string{"--manifests", filepath.Join(dir, "driver.json"), "--from", s.cluster.release}, "cluster.yaml"
			if c.gone == nil {
				var sets []any
				for i := range s.cluster.drivers {
					sets = append(sets, s.cluster.daemonSet(&s.cluster.drivers[i]))
				}
				write(t, filepath.Join(dir, "driver.json"), listOf(t, sets))
			} else {
				top := filepath.Join(dir, "must-gather")
				s.writeMustGather(t, top)
				for _, g := range c.gone {
					if err := os.RemoveAll(filepath.Join(top, g)); err != nil {
						t.Fatal(err)
					}
				}
				input, add = []string{"--must-gather", top, "--from", s.cluster.release}, ""
			}
			input = append(input, s.about(t)...)
			lines := asksFor(t, input)
			write(t, filepath.Join(dir, "objects.json"), listOf(t, append(s.cluster.objects(), namespacesLeftOut()...)))
			runsReads(t, dir, lines)
			if add != "" {
				input = append(input, "--manifests", filepath.Join(dir, add))
			}
			after := judge(t, input)
			for _, f := range after.Findings {
				if f.ID == "DATA002" && f.Severity > finding.Info {
					t.Errorf("it still lacks something after\n%s\n%+v", strings.Join(lines, "\n"), f)
				}
			}
			if after.Verdict != want.Verdict {
				t.Errorf("%s (%s), want %s (%s) as of the whole", after.Verdict, grounds(after), want.Verdict, grounds(want))
			}
		})
	}
}

// namespacesLeftOut are Namespaces that the objects of a cluster leave out.
func namespacesLeftOut() []any {
	var list []any
	for _, name := range []string{"openshift-config", "openshift-config-managed"} {
		list = append(list, fields{"apiVersion": "v1", "kind": "Namespace", "metadata": fields{"name": name}})
	}
	return list
}

// asksFor are the commands that all findings on missing data name: the same ones.
func asksFor(t *testing.T, input []string) []string {
	t.Helper()
	out := run(t, append([]string{"skew", "-o", "json"}, input...)...)
	var report struct {
		Findings []finding.Finding
	}
	if err := json.Unmarshal([]byte(out.stdout), &report); err != nil {
		t.Fatalf("%v: %s", err, out.stderr)
	}
	var lines []string
	n := 0
	for _, f := range report.Findings {
		if f.ID != "DATA002" {
			continue
		}
		n++
		if len(f.Actions) != 1 || lines != nil && !slices.Equal(lines, f.Actions[0].Commands) {
			t.Errorf("%s asks for %+v, another for %q", f.Object, f.Actions, lines)
			continue
		}
		lines = f.Actions[0].Commands
	}
	if n == 0 {
		t.Fatal("nothing is missing")
	}
	return lines
}

// runsReads has bash run commands in a folder, with an oc that reads its objects.
func runsReads(t *testing.T, dir string, lines []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "oc")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", strings.Join(lines, "\n"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "OBJECTS="+filepath.Join(dir, "objects.json"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, strings.Join(lines, "\n"), out)
	}
}

// A node selector with a capital is fixed by one step, whatever rules ask for it.
func TestSelectorIsMendedOnce(t *testing.T) {
	t.Parallel()
	for _, s := range states() {
		if s.name != "a node selector with a capital" {
			continue
		}
		out := run(t, append([]string{"skew"}, s.asked(t, t.TempDir())...)...).stdout
		_, todo, _ := strings.Cut(out, "What to do\n")
		todo, _, _ = strings.Cut(todo, "\nWhy\n")
		if strings.Count(todo, "kubernetes.io/os: windows") != 1 || strings.Count(todo, " patch daemonset/") != 1 {
			t.Error(todo)
		}
	}
}
