package ci

import (
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rhysd/actionlint"
	"sigs.k8s.io/yaml"
)

const workflowFile = "../../../ci/github/payload.yaml"

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
	text := read(t, workflowFile)
	for _, e := range lint(t, text) {
		t.Error(e)
	}
	for _, broken := range []struct{ from, to string }{
		{"runs-on:", "runs-onn:"},
		{"steps.push.outputs", "steps.pish.outputs"},
		{"contents: read", "contents: readd"},
		{"secrets.REGISTRY_USER }}", "secrets.REGISTRY_USER"},
	} {
		text := strings.Replace(text, broken.from, broken.to, 1)
		if len(lint(t, text)) == 0 {
			t.Errorf("with %q for %q it still passes", broken.to, broken.from)
		}
	}
}

// TestActionsArePinned: a tag can be moved to another commit, a commit can't.
func TestActionsArePinned(t *testing.T) {
	uses := regexp.MustCompile(`(?m)^ *-? *uses: .*$`).FindAllString(read(t, workflowFile), -1)
	if len(uses) != 2 {
		t.Errorf("%d uses of actions, want 2", len(uses))
	}
	pinned := regexp.MustCompile(`uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, u := range uses {
		if !pinned.MatchString(u) {
			t.Errorf("%q isn't one of GitHub's own actions by full commit, with its version", strings.TrimSpace(u))
		}
	}
}

// workflow is what the tests need of a workflow.
type workflow struct {
	Permissions *map[string]string
	Defaults    struct{ Run struct{ Shell string } }
	Env         map[string]string
	Jobs        map[string]struct {
		Env   map[string]string
		Steps []struct {
			Name, Run, Uses string
			Env             map[string]string
		}
	}
}

// workflowSteps returns the shell steps of a workflow's job, with each expression of their
// variables replaced by what GitHub would put there.
func workflowSteps(t *testing.T, file, name string, expressions map[string]string) []step {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, file)), &w); err != nil {
		t.Fatal(err)
	}
	if w.Permissions == nil || len(*w.Permissions) != 0 {
		t.Errorf("permissions are %v, want none", w.Permissions)
	}
	if w.Defaults.Run.Shell != "bash" {
		t.Fatalf("shell is %q", w.Defaults.Run.Shell)
	}
	job := w.Jobs[name]
	var steps []step
	for _, s := range job.Steps {
		if s.Run == "" {
			continue // an action
		}
		// https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-syntax#defaultsrunshell
		run := step{name: s.Name, script: s.Run, shell: []string{"bash", "--noprofile", "--norc", "-eo", "pipefail"}}
		for _, env := range []map[string]string{w.Env, job.Env, s.Env} {
			for _, k := range slices.Sorted(maps.Keys(env)) {
				v, ok := expressions[env[k]]
				if !ok {
					t.Fatalf("%s: no value for %s", k, env[k])
				}
				run.env = append(run.env, k+"="+v)
			}
		}
		steps = append(steps, run)
	}
	return steps
}

// TestOutputIsNoCommand: GitHub's runner takes a line with "::" that any program
// prints for a command, unless the step stopped that first with a word that nobody
// can guess.
func TestOutputIsNoCommand(t *testing.T) {
	stop := regexp.MustCompile("^::stop-commands::[0-9a-f]{64}$")
	for _, file := range []string{workflowFile, matrixFile} {
		var w workflow
		if err := yaml.Unmarshal([]byte(read(t, file)), &w); err != nil {
			t.Fatal(err)
		}
		words := map[string]bool{}
		for name, job := range w.Jobs {
			for _, s := range job.Steps {
				if s.Run == "" || strings.HasPrefix(s.Name, "login") {
					continue
				}
				first, _, _ := strings.Cut(s.Run, "\n")
				out, err := exec.CommandContext(t.Context(), "bash", "-c", first).Output()
				word := strings.TrimSpace(string(out))
				if err != nil || !stop.MatchString(word) || words[word] {
					t.Errorf("%s: %s: %s prints %q, %v", file, name, s.Name, first, err)
				}
				words[word] = true
			}
		}
	}
}

// workflowRun is one run of the workflow for a fixture.
type workflowRun struct {
	*fixture
	ref, output string
	steps       []step
}

func newWorkflowRun(t *testing.T, login string) workflowRun {
	t.Helper()
	r := workflowRun{fixture: newFixture(t), output: filepath.Join(t.TempDir(), "output")}
	r.ref = r.host + "/me/payload:1"
	r.env = append(r.env, "GITHUB_OUTPUT="+r.output, "GITHUB_STEP_SUMMARY="+r.output+".md")
	r.steps = workflowSteps(t, workflowFile, "payload", map[string]string{
		"${{ inputs.image || vars.PAYLOAD_IMAGE }}": r.ref,
		"${{ vars.BAKE_PUSH_FLAGS }}":               "--plain-http",
		"${{ secrets.REGISTRY_USER }}":              user,
		"${{ secrets.REGISTRY_PASSWORD }}":          login,
	})
	return r
}

func TestWorkflowStepsRun(t *testing.T) {
	r := newWorkflowRun(t, password)
	failed, printed := r.runAll(t, r.steps, nil)
	if failed != "" || len(r.steps) != 5 {
		t.Fatalf("of %d steps %q failed:\n%s", len(r.steps), failed, printed)
	}
	got := pushed(t, r.ref)
	if got != r.verified(t) {
		t.Errorf("the registry has %s, verified was %s", got, r.verified(t))
	}
	if want := "digest=" + got + "\n"; read(t, r.output) != want {
		t.Errorf("the output is %q, want %q", read(t, r.output), want)
	}
	if s := read(t, r.output+".md"); !strings.Contains(s, got) {
		t.Errorf("the summary is %q", s)
	}
	if s := read(t, filepath.Join(r.dir, "_output/verify.xml")); !strings.Contains(s, "<testsuites>") {
		t.Errorf("the report is %q", s)
	}
	if strings.Contains(printed, password) {
		t.Error("the password is in the log")
	}
}

func TestWorkflowStops(t *testing.T) {
	for _, c := range stops {
		t.Run(c.name, func(t *testing.T) {
			login := password
			if c.wrongLogin {
				login = "wrong"
			}
			r := newWorkflowRun(t, login)
			c.check(t, r.fixture, r.steps, r.ref)
			if exists(r.output) {
				t.Errorf("it has the output %q", read(t, r.output))
			}
		})
	}
}
