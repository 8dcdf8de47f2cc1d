package kustomize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree makes files below a new folder.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const daemonSet = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node}
spec:
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      containers: [{name: smb, image: "example.com/smbplugin:v1.17.0"}]
`

func TestRun(t *testing.T) {
	base := map[string]string{"base/Kustomization": "resources: [ds.yaml]\n", "base/ds.yaml": daemonSet}
	for name, c := range map[string]struct {
		files map[string]string
		has   string // in what is built
		fails string
	}{
		"an image":              {map[string]string{"top/kustomization.yaml": "resources: [../base]\nimages: [{name: example.com/smbplugin, newTag: v1.18.0}]\n"}, "image: example.com/smbplugin:v1.18.0", ""},
		"a namespace":           {map[string]string{"top/kustomization.yml": "resources: [../base]\nnamespace: storage\n"}, "namespace: storage", ""},
		"bases of old":          {map[string]string{"top/kustomization.yaml": "bases: [../base]\nnamePrefix: old-\n"}, "name: old-node", ""},
		"a component":           {map[string]string{"top/kustomization.yaml": "resources: [../base]\ncomponents: [../c]\n", "c/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: p.yaml}]\n", "c/p.yaml": "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: node}\nspec: {minReadySeconds: 7}\n"}, "minReadySeconds: 7", ""},
		"an inline patch":       {map[string]string{"top/kustomization.yaml": "resources: [../base]\npatches:\n- target: {kind: DaemonSet}\n  patch: |-\n    - {op: add, path: /spec/minReadySeconds, value: 7}\n"}, "minReadySeconds: 7", ""},
		"an old inline patch":   {map[string]string{"top/kustomization.yaml": "resources: [../base]\npatchesStrategicMerge:\n- |-\n  apiVersion: apps/v1\n  kind: DaemonSet\n  metadata: {name: node}\n  spec: {minReadySeconds: 7}\n"}, "minReadySeconds: 7", ""},
		"a generated map":       {map[string]string{"top/kustomization.yaml": "resources: [../base]\nconfigMapGenerator: [{name: c, literals: [a=b]}, {name: d, files: [k=file.txt]}]\n", "top/file.txt": "inside"}, "k: inside", ""},
		"a base that's missing": {map[string]string{"top/kustomization.yaml": "resources: [../none]\n"}, "", "none"},
		"a field with a typo":   {map[string]string{"top/kustomization.yaml": "resource: [../base]\n"}, "", "resource"},
		"itself":                {map[string]string{"top/kustomization.yaml": "resources: [../top]\n"}, "", "cycle"},
		"a file elsewhere":      {map[string]string{"top/kustomization.yaml": "resources: [../other/ds.yaml]\n", "other/ds.yaml": daemonSet}, "", "is not in or below"},
		"no YAML":               {map[string]string{"top/kustomization.yaml": "resources: [\n"}, "", "yaml"},
	} {
		files := map[string]string{}
		for _, m := range []map[string]string{base, c.files} {
			for k, v := range m {
				files[k] = v
			}
		}
		b, err := Run(t.Context(), filepath.Join(tree(t, files), "top"))
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: %v", name, err)
		case c.fails == "" && (err != nil || !strings.Contains(string(b.YAML), c.has) || len(b.Missing) > 0):
			t.Errorf("%s: %v, missing %v\n%s", name, err, b.Missing, b.YAML)
		}
	}
}

// remotes are places that kustomize would clone or download.
var remotes = []string{
	"https://github.com/kubernetes-csi/csi-driver-smb//deploy?ref=v1.17.0", "github.com/kubernetes-csi/csi-driver-smb/deploy", "GitHub.com/a/b",
	"git@github.com:a/b", "user@host.example.com:a/b.git", "ssh://git@example.com/a/b", "git::https://example.com/a/b", "file:///tmp/a/b",
	"https://example.com/driver.yaml", "http://127.0.0.1:1/driver.yaml", "www.github.com/a/b", "example.com/a/b?ref=x",
}

// Nothing is cloned, downloaded or run, wherever it is named. A git of the
// test's own would leave a file.
func TestRunFetchesNothing(t *testing.T) {
	bin := tree(t, map[string]string{"git": "#!/bin/sh\ntouch " + filepath.Join(t.TempDir(), "ran") + "\nexit 1\n"})
	for _, name := range []string{"git", "helm"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\ntouch "+bin+"/ran\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for _, at := range []string{
		"resources: [REMOTE]", "components: [REMOTE]", "bases: [REMOTE]", "configurations: [REMOTE]", "crds: [REMOTE]", "openapi: {path: 'REMOTE'}",
		"patches: [{path: 'REMOTE'}]", "patchesStrategicMerge: ['REMOTE']", "patchesJson6902: [{path: 'REMOTE', target: {kind: DaemonSet, name: node}}]",
		"replacements: [{path: 'REMOTE'}]", "configMapGenerator: [{name: a, files: ['k=REMOTE']}]", "secretGenerator: [{name: a, envs: ['REMOTE']}]",
		"configMapGenerator: [{name: a, env: 'REMOTE'}]", "generators: ['REMOTE']", "transformers: ['REMOTE']", "validators: ['REMOTE']",
		"helmCharts: [{name: smb, repo: 'REMOTE', version: v1}]",
		"transformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  path: 'REMOTE'",
		"generators:\n- |-\n  apiVersion: x/v1\n  kind: X\n  metadata: {name: x, annotations: {config.kubernetes.io/function: 'exec: {path: ./git}'}}",
	} {
		for _, remote := range remotes {
			rest := ""
			if !strings.HasPrefix(at, "resources:") && !strings.HasPrefix(at, "bases:") {
				rest = "\nresources: [../base]"
			}
			dir := tree(t, map[string]string{
				"top/kustomization.yaml":  strings.ReplaceAll(strings.ReplaceAll(at, "[REMOTE]", "['REMOTE', ../base]"), "REMOTE", remote) + rest + "\n",
				"base/kustomization.yaml": "resources: [ds.yaml]\n", "base/ds.yaml": daemonSet,
			})
			// Components and such can't be ../base, and say so: what counts is
			// that the place isn't asked.
			b, err := Run(t.Context(), filepath.Join(dir, "top"))
			if err == nil && !strings.Contains(string(b.YAML), "kind: DaemonSet") {
				t.Errorf("%s %s: the rest isn't built:\n%s", at, remote, b.YAML)
			}
			for _, word := range []string{"git fetch", "dial", "status code", "no such host", "exec"} {
				if err != nil && strings.Contains(err.Error(), word) {
					t.Errorf("%s %s: %v", at, remote, err)
				}
			}
			told := strings.Contains(at, "Generator: [") || slices.ContainsFunc([]string{"crds", "openapi", "validators"}, func(s string) bool { return strings.HasPrefix(at, s) })
			if !told && len(b.Missing) == 0 {
				t.Errorf("%s %s: nothing is missing", at, remote)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(bin, "ran")); err == nil {
		t.Error("a program was run")
	}
}

// What names nothing but remote things is no empty kustomization: what is missing is
// told, and what takes it in is built.
func TestRunOfNothingLocal(t *testing.T) {
	for _, only := range []string{"resources: ['" + remotes[0] + "']", "helmCharts: [{name: smb, repo: 'https://example.com', version: v1}]", "generators: [chart.yaml]"} {
		dir := tree(t, map[string]string{
			"remote/kustomization.yaml": only + "\n", "top/kustomization.yaml": "resources: [../remote, ds.yaml]\n", "top/ds.yaml": daemonSet,
		})
		for _, folder := range []string{"remote", "top"} {
			b, err := Run(t.Context(), filepath.Join(dir, folder))
			if err != nil || len(b.Missing) != 1 || strings.Contains(string(b.YAML), "DaemonSet") != (folder == "top") {
				t.Errorf("%s of %s: %v, missing %v\n%s", folder, only, err, b.Missing, b.YAML)
			}
		}
	}
}

func TestRunBounds(t *testing.T) {
	chain := func(levels int, take string) map[string]string {
		files := map[string]string{}
		for i := range levels {
			next := fmt.Sprintf("../c%02d", i+1)
			files[fmt.Sprintf("c%02d/kustomization.yaml", i)] = "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n" + strings.ReplaceAll(take, "NEXT", next)
		}
		files[fmt.Sprintf("c%02d/kustomization.yaml", levels)] = "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\ncommonAnnotations: {a: b}\n"
		files["top/kustomization.yaml"] = "resources: [ds.yaml]\ncomponents: [../c00]\n"
		files["top/ds.yaml"] = daemonSet
		return files
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"a chain":                       {chain(10, "components: [NEXT]\n"), ""},
		"a long chain":                  {chain(40, "components: [NEXT]\n"), "levels deep"},
		"a power of two":                {chain(14, "components: [NEXT, NEXT]\n"), "times in all"},
		"a chain with a fault below it": {chain(13, "components: [NEXT]\nresources: [gone.yaml]\n"), "gone.yaml"},
	} {
		_, err := Run(t.Context(), filepath.Join(tree(t, c.files), "top"))
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %.300v", name, err)
		case err != nil && len(err.Error()) > 1<<20:
			t.Errorf("%s: %d bytes of an error", name, len(err.Error()))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := tree(t, map[string]string{"kustomization.yaml": "resources: [ds.yaml]\n", "ds.yaml": daemonSet})
	if _, err := Run(ctx, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestNeeded(t *testing.T) {
	for text, want := range map[string]bool{
		"resources: [ds.yaml]\n": false, "resources: [ds.yaml, sub/ds.yaml]\n": false, "": false,
		"resources: [ds.yaml]\nlabels: [{pairs: {a: b}}]\ncommonAnnotations: {a: b}\n": false,
		"resources: [ds.yaml]\nconfigMapGenerator: [{name: a, literals: [a=b]}]\n":     false,
		"resources: [sub]\n": true, "resources: [../base]\n": true, "resources: [https://example.com/x.yaml]\n": true, "bases: [sub]\n": true,
		"resources: [ds.yaml]\nnamespace: x\n": true, "resources: [ds.yaml]\nimages: [{name: a, newTag: b}]\n": true,
		"resources: [ds.yaml]\npatches: [{path: p.yaml}]\n": true, "resources: [ds.yaml]\nhelmCharts: [{name: a}]\n": true,
		"resources: [ds.yaml]\ntransformers: [t.yaml]\n": true, "resources: [gone.yaml]\n": true, "resources: [ds.yaml]\nreplicas: [{name: a, count: 2}]\n": true,
	} {
		dir := tree(t, map[string]string{"kustomization.yaml": text, "ds.yaml": daemonSet, "sub/ds.yaml": daemonSet})
		got, kind, err := Needed(filepath.Join(dir, "kustomization.yaml"))
		if got != want || kind != "Kustomization" || err != nil {
			t.Errorf("%q: %v %s %v, want %v", text, got, kind, err, want)
		}
	}
	if _, _, err := Needed(filepath.Join(tree(t, map[string]string{"kustomization.yaml": "interval: 5m\n"}), "kustomization.yaml")); err == nil {
		t.Error("a field that kustomize doesn't know is taken")
	}
}

// FuzzRun builds whatever a kustomization file says. It must end, and ask
// nobody.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{
		"resources: [ds.yaml]\n", "resources: [../base]\nimages: [{name: a, newTag: b}]\n", "components: [.]\n", "patches: [{patch: '[{op: add}]'}]\n",
		"replacements: [{source: {kind: DaemonSet}, targets: [{select: {kind: A}, fieldPaths: [a.b]}]}]\n", "vars: [{name: A, objref: {kind: B}}]\n",
		"a: &a [*a]\n", "resources: &r [*r]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		dir := tree(t, map[string]string{"kustomization.yaml": text, "ds.yaml": daemonSet})
		_, _, _ = Needed(filepath.Join(dir, "kustomization.yaml"))
		if _, err := Run(t.Context(), dir); err != nil && strings.Contains(err.Error(), "dial") {
			t.Fatal(err)
		}
	})
}
