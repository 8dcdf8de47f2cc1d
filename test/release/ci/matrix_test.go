package ci

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const matrixFile = "../../../ci/github/matrix.yaml"

func TestMatrixLints(t *testing.T) {
	text := read(t, matrixFile)
	for _, e := range lint(t, text) {
		t.Error(e)
	}
	for _, broken := range []struct{ from, to string }{{"needs.plan.outputs", "needs.plain.outputs"}, {"steps.plan.outputs", "steps.plane.outputs"}} {
		if len(lint(t, strings.Replace(text, broken.from, broken.to, 1))) == 0 {
			t.Errorf("with %q for %q it still passes", broken.to, broken.from)
		}
	}
	uses := regexp.MustCompile(`(?m)^ *-? *uses: .*$`).FindAllString(text, -1)
	for _, u := range uses {
		if !regexp.MustCompile(`uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`).MatchString(u) {
			t.Errorf("%q isn't pinned", u)
		}
	}
	if len(uses) != 3 {
		t.Errorf("%d uses of actions, want 3", len(uses))
	}
}

// Three machines that share nothing but a registry: one plans, one compiles, one puts
// the payload together. A worker that is started twice changes nothing.
func TestMatrixRuns(t *testing.T) {
	f := newFixture(t)
	f.must(t, `mkdir tool && printf 'module example.com/tool\n\ngo 1.21\n' > tool/go.mod && printf 'package main\n\nfunc main() {}\n' > tool/main.go
git -C tool init -q . && git -C tool add -A && git -C tool -c user.name=t -c user.email=t@example.com commit -qm tool
printf '  - {name: tool, git: %s/tool, commit: %s, package: ., payload: tool.exe}\n' "$PWD" "$(git -C tool rev-parse HEAD)" >> versions.yaml
bin/bake lock -q`)
	alone := f.digest(t)
	output := filepath.Join(t.TempDir(), "output")
	job := func(name, component string) string {
		t.Helper()
		home := t.TempDir()
		f.env = append(f.env, "HOME="+home, "XDG_CACHE_HOME="+home+"/cache", "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+output+".md")
		f.must(t, "rm -rf _output && mkdir _output && : > "+output)
		steps := workflowSteps(t, matrixFile, name, map[string]string{
			"${{ vars.BAKE_CACHE }}": f.host + "/me/cache", "${{ vars.BAKE_CACHE_TRUST || 'false' }}": "true", "${{ vars.BAKE_PLAIN_HTTP || 'false' }}": "true",
			"${{ secrets.REGISTRY_USER }}": user, "${{ secrets.REGISTRY_PASSWORD }}": password,
			"${{ inputs.image || vars.PAYLOAD_IMAGE }}": f.host + "/me/payload:1", "${{ matrix.component }}": component,
		})
		if failed, printed := f.runAll(t, steps, nil); failed != "" || len(steps) < 3 {
			t.Fatalf("%s: of %d steps %q failed:\n%s", name, len(steps), failed, printed)
		}
		return read(t, output)
	}
	planned := func() (components []string) {
		t.Helper()
		if err := json.Unmarshal([]byte(strings.TrimPrefix(job("plan", ""), "components=")), &components); err != nil {
			t.Fatal(err)
		}
		return components
	}
	if got := planned(); !slices.Equal(got, []string{"tool"}) {
		t.Fatalf("to be compiled: %q", got)
	}
	job("build", "tool")
	job("build", "tool")
	if got := planned(); len(got) != 0 {
		t.Errorf("still to be compiled: %q", got)
	}
	if got := job("payload", ""); got != "digest="+alone+"\n" || pushed(t, f.host+"/me/payload:1") != alone {
		t.Errorf("%q, one machine makes %s", got, alone)
	}
}

// digest is what one machine makes.
func (f *fixture) digest(t *testing.T) string {
	t.Helper()
	out, err := f.run(t, step{shell: []string{"bash", "-e"}, script: "bin/bake payload -q 2>/dev/null"})
	if err != nil {
		t.Fatal(err)
	}
	_, digest, _ := strings.Cut(strings.TrimSpace(out), "@")
	return digest
}
