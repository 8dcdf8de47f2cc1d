package ci

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"github.com/tektoncd/pipeline/pkg/container"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

const pipelineFile = "../../../ci/tekton/pipeline.yaml"

// tekton decodes the file into Tekton's own types: an unknown key is an error.
func tekton(t *testing.T) (task *v1.Task, pipe *v1.Pipeline) {
	t.Helper()
	docs := strings.Split(read(t, pipelineFile), "\n---\n")
	if len(docs) != 2 {
		t.Fatalf("%d documents, want a task and a pipeline", len(docs))
	}
	task, pipe = &v1.Task{}, &v1.Pipeline{}
	for i, into := range []any{task, pipe} {
		if err := yaml.UnmarshalStrict([]byte(docs[i]), into); err != nil {
			t.Fatal(err)
		}
	}
	return task, pipe
}

func TestPipelineValidates(t *testing.T) {
	ctx := t.Context()
	task, pipe := tekton(t)
	task.SetDefaults(ctx)
	pipe.SetDefaults(ctx)
	if err := task.Validate(ctx); err != nil {
		t.Errorf("task: %v", err)
	}
	if err := pipe.Validate(ctx); err != nil {
		t.Errorf("pipeline: %v", err)
	}
	broken := task.DeepCopy()
	broken.Spec.Steps[0].Script = "$(params.nosuch)"
	if broken.Validate(ctx) == nil {
		t.Error("a task with an unknown parameter passes")
	}
	wrong := pipe.DeepCopy()
	wrong.Spec.Results[0].Value = *v1.NewStructuredValues("$(tasks.nosuch.results.IMAGE_URL)")
	if wrong.Validate(ctx) == nil {
		t.Error("a pipeline with the result of an unknown task passes")
	}
}

// TestPipelinePassesAll holds the pipeline to its task, which Tekton compares
// only when it runs them.
func TestPipelinePassesAll(t *testing.T) {
	task, pipe := tekton(t)
	call := pipe.Spec.Tasks[0]
	if call.TaskRef.Name != task.Name {
		t.Errorf("it calls %q, the task is %q", call.TaskRef.Name, task.Name)
	}
	for _, p := range task.Spec.Params {
		if want := "$(params." + p.Name + ")"; !slices.ContainsFunc(call.Params, func(got v1.Param) bool {
			return got.Name == p.Name && got.Value.StringVal == want
		}) {
			t.Errorf("it doesn't pass %s on", p.Name)
		}
		i := slices.IndexFunc(pipe.Spec.Params, func(got v1.ParamSpec) bool { return got.Name == p.Name })
		if i < 0 || (p.Default == nil) != (pipe.Spec.Params[i].Default == nil) ||
			p.Default != nil && p.Default.StringVal != pipe.Spec.Params[i].Default.StringVal {
			t.Errorf("%s has another default", p.Name)
		}
	}
	for i, r := range task.Spec.Results {
		if want := "$(tasks." + call.Name + ".results." + r.Name + ")"; pipe.Spec.Results[i].Value.StringVal != want {
			t.Errorf("result %s is %s", r.Name, pipe.Spec.Results[i].Value.StringVal)
		}
	}
}

func TestPipelineRunOfReadme(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "../../../ci/README.md"), "```yaml\n")
	text, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the README shows no run")
	}
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	more, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the README doesn't show how a run asks for CPUs")
	}
	var run v1.PipelineRun
	if err := yaml.UnmarshalStrict([]byte(text+more), &run); err != nil {
		t.Fatal(err)
	}
	run.SetDefaults(t.Context())
	run.Name = run.GenerateName + "x7k2p" // as the API server does before it validates
	if err := run.Validate(t.Context()); err != nil {
		t.Error(err)
	}
	_, pipe := tekton(t)
	if got := run.Spec.TaskRunSpecs[0].PipelineTaskName; got != pipe.Spec.Tasks[0].Name {
		t.Errorf("it asks for CPUs for %q, the pipeline's task is %q", got, pipe.Spec.Tasks[0].Name)
	}
	if run.Spec.PipelineRef.Name != pipe.Name {
		t.Errorf("it runs %q, the pipeline is %q", run.Spec.PipelineRef.Name, pipe.Name)
	}
	for _, p := range pipe.Spec.Params {
		if p.Default == nil && !slices.ContainsFunc(run.Spec.Params, func(got v1.Param) bool { return got.Name == p.Name }) {
			t.Errorf("it doesn't give %s", p.Name)
		}
	}
}

// TestTaskFitsASmallNode wants a task for which a node of two CPUs has room
// beside the cluster's own pods. A pod asks for the sum of its steps.
func TestTaskFitsASmallNode(t *testing.T) {
	task, _ := tekton(t)
	var sum resource.Quantity
	for _, s := range task.Spec.Steps {
		sum.Add(*s.ComputeResources.Requests.Cpu())
	}
	if sum.Cmp(resource.MustParse("1")) > 0 {
		t.Errorf("the task asks for %s CPUs", sum.String())
	}
}

// taskSteps returns the task's steps, with variables replaced by Tekton itself.
func taskSteps(t *testing.T, variables map[string]string) []step {
	t.Helper()
	task, _ := tekton(t)
	login := cmp.Or(variables["workspaces.login.path"], "none")
	container.ApplyStepTemplateReplacements(task.Spec.StepTemplate, variables, nil)
	var steps []step
	for _, s := range task.Spec.Steps {
		container.ApplyStepReplacements(&s, variables, nil)
		// Tekton writes a script into a file and executes it:
		// https://tekton.dev/docs/pipelines/tasks/#running-scripts-within-steps
		run := step{name: s.Name, script: s.Script}
		for _, e := range slices.Concat(task.Spec.StepTemplate.Env, s.Env) {
			if e.Value == "" && e.Name != "LOGIN" || strings.Contains(e.Value, "$(") {
				t.Fatalf("%s: no value for %s: %q", s.Name, e.Name, e.Value)
			}
			if e.Value == login && !slices.ContainsFunc(s.Workspaces, func(w v1.WorkspaceUsage) bool { return w.Name == "login" }) {
				t.Errorf("%s knows the login's folder and doesn't mount it", s.Name)
			}
			run.env = append(run.env, e.Name+"="+e.Value)
		}
		steps = append(steps, run)
	}
	return steps
}

// taskRun is one run of the task for a fixture.
type taskRun struct {
	*fixture
	ref, results string
	steps        []step
}

// newTaskRun is a run with the workspace "login" that holds the password, or
// without that workspace if the password is empty.
func newTaskRun(t *testing.T, password string) taskRun {
	t.Helper()
	r := taskRun{fixture: newFixture(t), results: t.TempDir()}
	r.ref = r.host + "/me/payload:2"
	// The clone is somebody else's, as it is in a cluster: see git's
	// ensure_valid_ownership. The home is the root folder, as for the random
	// users of OpenShift.
	r.env = append(r.env, "GIT_TEST_ASSUME_DIFFERENT_OWNER=1", "HOME=/")
	login := ""
	if password != "" {
		login = r.login(t, password)
	}
	r.steps = taskSteps(t, map[string]string{
		"params.image": r.ref, "params.push-flags": "--plain-http",
		"workspaces.login.path": login, "workspaces.source.path": r.dir,
		"results.IMAGE_URL.path": r.results + "/url", "results.IMAGE_DIGEST.path": r.results + "/digest",
	})
	return r
}

// login returns a folder like that of a mounted secret.
func (r taskRun) login(t *testing.T, password string) string {
	t.Helper()
	config, err := yaml.YAMLToJSON([]byte("auths: {\"" + r.host + "\": {username: " + user + ", password: \"" + password + "\"}}"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLoginIsForThePush: a workspace that some step names is mounted for the
// steps that name it alone, and one that none names is mounted for all.
func TestLoginIsForThePush(t *testing.T) {
	task, _ := tekton(t)
	for _, s := range task.Spec.Steps {
		var named []string
		for _, w := range s.Workspaces {
			named = append(named, w.Name)
		}
		if want := s.Name == "push"; slices.Equal(named, []string{"login"}) != want || !want && named != nil {
			t.Errorf("%s names the workspaces %q", s.Name, named)
		}
	}
}

func TestTaskStepsRun(t *testing.T) {
	r := newTaskRun(t, password)
	failed, printed := r.runAll(t, r.steps, nil)
	if failed != "" || len(r.steps) != 4 {
		t.Fatalf("of %d steps %q failed:\n%s", len(r.steps), failed, printed)
	}
	got := pushed(t, r.ref)
	if got != r.verified(t) {
		t.Errorf("the registry has %s, verified was %s", got, r.verified(t))
	}
	if url, digest := read(t, r.results+"/url"), read(t, r.results+"/digest"); url != r.host+"/me/payload" || digest != got {
		t.Errorf("the results are %s and %s, the registry has %s", url, digest, got)
	}
	if s := read(t, filepath.Join(r.dir, "_output/verify.xml")); !strings.Contains(s, "<testsuites>") {
		t.Errorf("the report is %q", s)
	}
	if !exists(filepath.Join(r.dir, ".cache/winbake")) {
		t.Error("the workspace doesn't keep the cache")
	}
}

func TestTaskStops(t *testing.T) {
	for _, c := range stops {
		t.Run(c.name, func(t *testing.T) {
			login := password
			if c.wrongLogin {
				login = "wrong"
			}
			r := newTaskRun(t, login)
			c.check(t, r.fixture, r.steps, r.ref)
			if exists(r.results + "/digest") {
				t.Errorf("it has the result %q", read(t, r.results+"/digest"))
			}
		})
	}
	t.Run("no login", func(t *testing.T) {
		r := newTaskRun(t, "")
		c := stop{step: "push", says: `this run has no workspace "login"`}
		if printed := c.check(t, r.fixture, r.steps, r.ref); !strings.Contains(printed, "401") {
			t.Errorf("it doesn't say what the registry answered:\n%s", printed)
		}
	})
}

// TestImagesAreByDigest: whoever may move a tag would decide what builds the payload.
func TestImagesAreByDigest(t *testing.T) {
	for _, file := range []string{pipelineFile, "../../../ci/gitlab/winbake.yml"} {
		found := regexp.MustCompile(`default: (docker\.io/\S+)`).FindAllStringSubmatch(read(t, file), -1)
		if len(found) == 0 {
			t.Errorf("%s names no image", file)
		}
		for _, f := range found {
			if !regexp.MustCompile(`:1\.\d+\.\d+@sha256:[0-9a-f]{64}$`).MatchString(f[1]) {
				t.Errorf("%s: %s isn't a version by digest", file, f[1])
			}
		}
	}
}
