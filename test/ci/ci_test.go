// Package ci checks the pipelines in /ci: their form with each system's own
// code, and their shell steps by running them. It is a module of its own, so
// that Tekton's dependencies stay out of the project's.
package ci

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/rhysd/actionlint"
	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	"sigs.k8s.io/yaml"
)

const (
	workflow = "../../ci/github/payload.yaml"
	pipeline = "../../ci/tekton/pipeline.yaml"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func lint(t *testing.T, text string) []*actionlint.Error {
	t.Helper()
	l, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	errs, err := l.Lint(".github/workflows/payload.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return errs
}

func TestWorkflowLints(t *testing.T) {
	text := read(t, workflow)
	for _, e := range lint(t, text) {
		t.Errorf("%s", e)
	}
	broken := strings.Replace(text, "runs-on:", "runs-onn:", 1)
	if len(lint(t, broken)) == 0 {
		t.Error("a broken workflow passes")
	}
}

func tekton(t *testing.T) (v1.Task, v1.Pipeline) {
	t.Helper()
	var task v1.Task
	var pipe v1.Pipeline
	for i, doc := range strings.Split(read(t, pipeline), "\n---\n") {
		var into any = &task
		if i == 1 {
			into = &pipe
		}
		if err := yaml.UnmarshalStrict([]byte(doc), into); err != nil {
			t.Fatal(err)
		}
	}
	return task, pipe
}

func TestPipelineValidates(t *testing.T) {
	ctx := context.Background()
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
}

// fixture is a repository with one small component, and a registry.
type fixture struct {
	dir, host string
	env       []string
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	dir, home := t.TempDir(), t.TempDir()
	top, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text := "version = 2\n"
	sum := sha256.Sum256([]byte(text))
	for path, data := range map[string]string{
		"conf.toml": text,
		"versions.yaml": "apiVersion: winbake.dev/v1\nrelease: \"4.21\"\ngo: local\ncomponents:\n" +
			"  - {name: conf, file: conf.toml, sha256: " + hex.EncodeToString(sum[:]) + ", payload: containerd/conf.toml}\n",
		"Makefile": "bin:\n\tgo build -C " + top + " -o $(CURDIR)/bin/ ./cmd/bake ./cmd/verify\npayload: bin\n\tbin/bake payload\n.PHONY: bin payload\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, path), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f := fixture{dir: dir, host: strings.TrimPrefix(server.URL, "http://"), env: []string{"HOME=" + home, "XDG_CACHE_HOME=" + home + "/cache", "GOFLAGS="}}
	for _, v := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		out, err := exec.Command("go", "env", v).Output()
		if err != nil {
			t.Fatal(err)
		}
		f.env = append(f.env, v+"="+strings.TrimSpace(string(out)))
	}
	f.bash(t, "git init -q . && printf 'bin\\n_output\\n' > .gitignore && make bin && bin/bake lock && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm start")
	return f
}

func (f fixture) bash(t *testing.T, script string, env ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = f.dir
	cmd.Env = append(append(os.Environ(), f.env...), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, out)
	}
}

// pushed asks the registry what a reference is now.
func pushed(t *testing.T, ref string) string {
	t.Helper()
	r, err := name.ParseReference(ref, name.Insecure)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Head(r)
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest.String()
}

func TestWorkflowStepsRun(t *testing.T) {
	f := newFixture(t)
	var w struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, workflow)), &w); err != nil {
		t.Fatal(err)
	}
	ref := f.host + "/me/payload:1"
	output := filepath.Join(t.TempDir(), "output")
	ran := 0
	for _, s := range w.Jobs["payload"].Steps {
		if s.Name == "checkout" {
			continue // the fixture is the checkout
		}
		ran++
		f.bash(t, s.Run, "IMAGE="+ref, "BAKE_PUSH_FLAGS=--insecure", "REGISTRY_USER=me", "REGISTRY_PASSWORD=secret",
			"GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+output+".md")
	}
	if want := "digest=" + pushed(t, ref) + "\n"; ran != 5 || read(t, output) != want {
		t.Errorf("%d steps gave %q, want %q", ran, read(t, output), want)
	}
}

func TestPipelineStepsRun(t *testing.T) {
	f := newFixture(t)
	task, _ := tekton(t)
	ref := f.host + "/me/payload:2"
	results := t.TempDir()
	fill := strings.NewReplacer("$(params.image)", ref, "$(params.push-flags)", "--insecure",
		"$(results.IMAGE_URL.path)", results+"/url", "$(results.IMAGE_DIGEST.path)", results+"/digest")
	for _, s := range task.Spec.Steps {
		var env []string
		for _, e := range s.Env {
			env = append(env, e.Name+"="+fill.Replace(e.Value))
		}
		f.bash(t, s.Script, env...)
	}
	got := fmt.Sprintf("%s@%s", read(t, results+"/url"), read(t, results+"/digest"))
	if want := strings.TrimSuffix(ref, ":2") + "@" + pushed(t, ref); got != want {
		t.Errorf("results %s, want %s", got, want)
	}
}
