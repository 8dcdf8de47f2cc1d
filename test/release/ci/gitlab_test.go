package ci

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const gitlabMatrixFile = "../../../ci/gitlab/matrix.yml"

// gitlabJob is what the tests need of a job.
type gitlabJob struct {
	Variables    map[string]string
	BeforeScript []string `json:"before_script"`
	Script       []string
	Extends      string
	Parallel     struct {
		Matrix []map[string][]string
	}
}

// runners are GitLab's: each job has a clone and a home of its own. Inputs are filled in
// as GitLab does, and variables of the job come after those that it extends.
func (f *fixture) runner(t *testing.T, text, name string, variables map[string]string) *fixture {
	t.Helper()
	var jobs map[string]gitlabJob
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	job := jobs[name]
	base := jobs[job.Extends]
	dir := filepath.Join(t.TempDir(), "clone")
	f.must(t, "git clone -q . "+dir)
	home := t.TempDir()
	all := maps.Clone(variables)
	maps.Copy(all, base.Variables)
	maps.Copy(all, job.Variables)
	r := &fixture{dir: dir, home: home, env: append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+home+"/cache", "GOFLAGS=", "DOCKER_CONFIG=", "CI_PROJECT_DIR="+dir)}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		r.env = append(r.env, k+"="+strings.ReplaceAll(all[k], "$CI_PROJECT_DIR", dir))
	}
	script := strings.Join(slices.Concat(base.BeforeScript, job.BeforeScript, job.Script), "\n")
	out, err := r.run(t, step{name: name, shell: []string{"bash", "-eo", "pipefail"}, script: script})
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return r
}

// Runners that share a registry alone: one plans, one compiles what the child pipeline's
// matrix names, one puts the payload together: it is that of one machine.
func TestGitLabMatrixRuns(t *testing.T) {
	f := newFixture(t)
	f.must(t, `mkdir tool && printf 'module example.com/tool\n\ngo 1.21\n' > tool/go.mod && printf 'package main\n\nfunc main() {}\n' > tool/main.go
git -C tool init -q . && git -C tool add -A && git -C tool -c user.name=t -c user.email=t@example.com commit -qm tool
printf '  - {name: tool, git: "file://%s/tool", commit: %s, package: ., payload: tool.exe}\n' "$PWD" "$(git -C tool rev-parse HEAD)" >> versions.yaml
printf '/bin\n/_output\n/tool\n' > .gitignore
bin/bake lock -q && bin/bake build --record -q && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm pins`)
	alone := f.digest(t)
	_, text, _ := strings.Cut(read(t, gitlabMatrixFile), "\n---\n")
	text = strings.NewReplacer("$[[ inputs.cache ]]", f.host+"/me/cache", "$[[ inputs.payload ]]", f.host+"/me/payload:1", "$[[ inputs.plain-http ]]", "true",
		"$[[ inputs.stage ]]", "build", "$[[ inputs.image ]]", "golang").Replace(text)
	login, err := yaml.YAMLToJSON([]byte("auths: {\"" + f.host + "\": {username: " + user + ", password: \"" + password + "\"}}"))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"DOCKER_AUTH_CONFIG": strings.TrimSpace(string(login))}
	child := func() string {
		t.Helper()
		return read(t, filepath.Join(f.runner(t, text, "winbake-plan", own).dir, "winbake-build.yml"))
	}
	build := child()
	var jobs map[string]gitlabJob
	if err := yaml.Unmarshal([]byte(build), &jobs); err != nil {
		t.Fatalf("%v\n%s", err, build)
	}
	if m := jobs["winbake"].Parallel.Matrix; len(m) != 1 || !slices.Equal(m[0]["COMPONENT"], []string{"tool"}) {
		t.Fatalf("the child pipeline is\n%s", build)
	}
	worker := maps.Clone(own)
	worker["COMPONENT"] = "tool"
	f.runner(t, build, "winbake", worker)
	if build = child(); strings.Contains(build, "matrix") || !strings.Contains(build, "nothing is to be compiled") {
		t.Errorf("after it the child pipeline is\n%s", build)
	}
	f.runner(t, build, "winbake", own)
	if image := read(t, filepath.Join(f.runner(t, text, "winbake-payload", own).dir, "winbake-image.txt")); !strings.HasSuffix(strings.TrimSpace(image), "@"+alone) || pushed(t, f.host+"/me/payload:1") != alone {
		t.Errorf("pushed %s, one machine makes %s", image, alone)
	}
}
