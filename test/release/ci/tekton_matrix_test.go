package ci

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/container"
	"sigs.k8s.io/yaml"
)

const tektonMatrixFile = "../../../ci/tekton/matrix.yaml"

func tektonMatrix(t *testing.T) (task *v1.Task, pipe *v1.Pipeline) {
	t.Helper()
	docs := strings.Split(read(t, tektonMatrixFile), "\n---\n")
	task, pipe = &v1.Task{}, &v1.Pipeline{}
	for i, into := range []any{task, pipe} {
		if err := yaml.UnmarshalStrict([]byte(docs[i]), into); err != nil {
			t.Fatal(err)
		}
	}
	return task, pipe
}

// TestTektonMatrixValidates: Tekton's own code takes task, pipeline and README's run; each
// matrix is skipped by "when", after which Tekton still runs the last task.
func TestTektonMatrixValidates(t *testing.T) {
	ctx := t.Context()
	task, pipe := tektonMatrix(t)
	task.SetDefaults(ctx)
	pipe.SetDefaults(ctx)
	if err := task.Validate(ctx); err != nil {
		t.Errorf("task: %v", err)
	}
	if err := pipe.Validate(ctx); err != nil {
		t.Errorf("pipeline: %v", err)
	}
	declared := func(name string) bool {
		return slices.ContainsFunc(task.Spec.Params, func(p v1.ParamSpec) bool { return p.Name == name })
	}
	matrices := 0
	for _, call := range pipe.Spec.Tasks {
		params := slices.Clone(call.Params)
		if call.Matrix != nil {
			matrices++
			params = append(params, call.Matrix.Params...)
			array := call.Matrix.Params[0].Value.StringVal
			if len(call.When) != 1 || array != "$(tasks.plan.results."+call.Name+"[*])" || call.When[0].Input != "$(tasks.plan.results.any-"+call.Name+")" {
				t.Errorf("%s: its matrix is %s, and it runs when %+v", call.Name, array, call.When)
			}
		}
		for _, p := range params {
			if !declared(p.Name) {
				t.Errorf("%s gives %s, which the task doesn't have", call.Name, p.Name)
			}
		}
	}
	if matrices != 2 {
		t.Errorf("%d matrices", matrices)
	}
	for _, text := range strings.Split(read(t, "../../../ci/README.md"), "```yaml\n")[1:] {
		text, _, _ = strings.Cut(text, "```")
		var run v1.PipelineRun
		if !strings.Contains(text, "winbake-matrix") {
			continue
		}
		if err := yaml.UnmarshalStrict([]byte(text), &run); err != nil {
			t.Fatal(err)
		}
		run.SetDefaults(ctx)
		run.Name = "winbake-matrix-x7k2p"
		if err := run.Validate(ctx); err != nil {
			t.Error(err)
		}
		for _, p := range pipe.Spec.Params {
			if p.Default == nil && !slices.ContainsFunc(run.Spec.Params, func(got v1.Param) bool { return got.Name == p.Name }) {
				t.Errorf("README's run doesn't give %s", p.Name)
			}
		}
		return
	}
	t.Error("the README shows no run")
}

// Nodes that share a registry alone: one plans, two compile, one of them twice, one puts
// the payload together: it is that of one machine.
func TestTektonMatrixRuns(t *testing.T) {
	f := newFixture(t)
	f.must(t, `mkdir tool && printf 'module example.com/tool\n\ngo 1.21\n' > tool/go.mod && printf 'package main\n\nfunc main() {}\n' > tool/main.go
git -C tool init -q . && git -C tool add -A && git -C tool -c user.name=t -c user.email=t@example.com commit -qm tool
at=$(git -C tool rev-parse HEAD)
printf '  - {name: tool, git: "file://%s/tool", commit: %s, package: ., payload: tool.exe}\n  - {name: large, git: "file://%s/tool", commit: %s, package: ., memory: 6GiB, payload: large.exe}\n' "$PWD" "$at" "$PWD" "$at" >> versions.yaml
printf '/bin\n/_output\n/tool\n' > .gitignore
bin/bake lock -q && bin/bake build --record -q && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm pins`)
	alone := f.digest(t)
	login := taskRun{fixture: f}.login(t, password)
	worker := func(component, image string) (results string) {
		t.Helper()
		results = t.TempDir()
		work := t.TempDir()
		task, _ := tektonMatrix(t)
		variables := map[string]string{
			"params.repository": "file://" + f.dir, "params.revision": "HEAD", "params.cache": f.host + "/me/cache", "params.plain-http": "true",
			"params.component": component, "params.image": image, "params.builder": "none", "workspaces.login.path": login,
		}
		for _, r := range task.Spec.Results {
			variables["results."+r.Name+".path"] = filepath.Join(results, r.Name)
		}
		container.ApplyStepTemplateReplacements(task.Spec.StepTemplate, variables, nil)
		node := &fixture{dir: work, home: work, env: append(os.Environ(), "HOME="+work, "XDG_CACHE_HOME="+work+"/cache", "GOFLAGS=", "DOCKER_CONFIG=")}
		for _, s := range task.Spec.Steps {
			container.ApplyStepReplacements(&s, variables, nil)
			run := step{name: s.Name, script: s.Script}
			for _, e := range s.Env {
				if strings.Contains(e.Value, "$(") {
					t.Fatalf("%s: no value for %s: %s", s.Name, e.Name, e.Value)
				}
				run.env = append(run.env, e.Name+"="+e.Value)
			}
			if out, err := node.run(t, run); err != nil {
				t.Fatalf("%s %q %q: %v\n%s", s.Name, component, image, err, out)
			}
		}
		return results
	}
	planned := func() (heavy, light []string, any string) {
		t.Helper()
		results := worker("", "")
		for name, into := range map[string]*[]string{"heavy": &heavy, "light": &light} {
			if err := json.Unmarshal([]byte(read(t, filepath.Join(results, name))), into); err != nil {
				t.Fatal(err)
			}
		}
		return heavy, light, read(t, filepath.Join(results, "any-heavy")) + read(t, filepath.Join(results, "any-light"))
	}
	if heavy, light, any := planned(); !slices.Equal(heavy, []string{"large"}) || !slices.Equal(light, []string{"tool"}) || any != "yesyes" {
		t.Fatalf("to be compiled: %q, %q, %s", heavy, light, any)
	}
	worker("large", "")
	worker("tool", "")
	worker("tool", "")
	if heavy, light, any := planned(); len(heavy)+len(light) != 0 || any != "nono" {
		t.Errorf("still to be compiled: %q, %q, %s", heavy, light, any)
	}
	results := worker("", f.host+"/me/payload:1")
	if got := read(t, filepath.Join(results, "IMAGE_DIGEST")); got != alone || pushed(t, f.host+"/me/payload:1") != alone {
		t.Errorf("pushed %s, one machine makes %s", got, alone)
	}
}
