package states

import (
	"errors"
	"html"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/winbake/winbake/test/cluster/apiserver"
)

// beginsOC finds where a shell begins a command of oc.
var beginsOC = regexp.MustCompile(`(?m)(^[ \t]*|[|;&({!][ \t]*|\b(?:xargs -r|then|do|until|while|if) )oc `)

// scriptFrame is what defines oc in a plan's script, and isn't a call of it.
var scriptFrame = regexp.MustCompile(`(?m)^(oc\(\) |reached=).*$`)

// callsOf are oc's commands in a text for a shell, without what comes behind them:
// a pipe, a redirection, the end of a substitution.
func callsOf(text string) []string {
	var calls []string
	for _, at := range beginsOC.FindAllStringSubmatchIndex(text, -1) {
		call := simple(text[at[3]:])
		switch isXargs := strings.HasPrefix(text[at[2]:at[3]], "xargs"); {
		case isXargs && strings.Contains(call, " subscriptions."): // of these it is given names alone
			call += " by-xargs"
		case isXargs:
			call += " daemonset/by-xargs"
		}
		calls = append(calls, call)
	}
	return calls
}

// simple is the one command that a text begins with.
func simple(text string) string {
	quote := byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\\':
			i++
		case c == '\'' || c == '"':
			quote = c
		case c == '2' && strings.HasPrefix(text[i:], "2>"), strings.IndexByte("|;&)<>#\n", c) >= 0:
			return strings.TrimSpace(text[:i])
		}
	}
	return text
}

// inCode is what a page in HTML marks as code.
var inCode = regexp.MustCompile(`(?s)<code>(.*?)</code>`)

// inBackticks is what prose marks as code.
var inBackticks = regexp.MustCompile("`([^`\n]+)`")

// call notes oc's commands of a text for a shell.
func (a *shown) call(state, text string) {
	for _, c := range callsOf(text) {
		a.calls[c] = state
	}
}

func (a *shown) html(state, page string) {
	for _, m := range inCode.FindAllStringSubmatch(page, -1) {
		a.call(state, html.UnescapeString(m[1]))
	}
}

// ocsOwn are commands that kubectl hasn't, with the flags that outputs give them and
// how many arguments they take: https://github.com/openshift/oc, pkg/cli/admin.
var ocsOwn = map[string]struct {
	flags    func(*pflag.FlagSet)
	min, max int
}{
	// upgrade/upgrade.go; its command status is behind a feature gate before oc 4.20
	"adm upgrade": {func(f *pflag.FlagSet) {
		f.String("to", "", "")
		f.Bool("allow-not-recommended", false, "")
		f.Bool("include-not-recommended", false, "")
	}, 0, 0},
	// upgrade/channel/channel.go
	"adm upgrade channel": {func(*pflag.FlagSet) {}, 0, 1},
	// policy/modify_scc.go
	"adm policy add-scc-to-user":      {serviceAccount, 1, 99},
	"adm policy remove-scc-from-user": {serviceAccount, 1, 99},
	// inspect/inspect.go
	"adm inspect": {func(f *pflag.FlagSet) { f.String("dest-dir", "", ""); f.BoolP("all-namespaces", "A", false, "") }, 1, 99},
	// mustgather/mustgather.go
	"adm must-gather": {func(f *pflag.FlagSet) { f.String("dest-dir", "", "") }, 0, 0},
	// release/info.go
	"adm release info": {func(f *pflag.FlagSet) { f.Bool("commits", false, ""); f.StringP("output", "o", "", "") }, 0, 2},
	// release/extract.go
	// node/logs.go
	"adm node-logs": {func(f *pflag.FlagSet) { f.String("path", "", ""); f.StringP("selector", "l", "", "") }, 0, 99},
	// ../process/process.go
	"process": {func(f *pflag.FlagSet) {
		f.Bool("local", false, "")
		f.StringP("output", "o", "", "")
		f.StringP("filename", "f", "", "")
	}, 0, 99},
}

func serviceAccount(f *pflag.FlagSet) { f.StringSliceP("serviceaccount", "z", nil, "") }

// own holds a call to the table of oc's own commands; found is false for one that
// kubectl has too.
func own(words []string) (found bool, err error) {
	name := ""
	for n := range ocsOwn {
		if len(n) > len(name) && has(words, strings.Fields(n)...) {
			name = n
		}
	}
	if name == "" {
		return false, nil
	}
	c := ocsOwn[name]
	flags := pflag.NewFlagSet(name, pflag.ContinueOnError)
	flags.StringP("namespace", "n", "", "")
	c.flags(flags)
	if err := flags.Parse(words); err != nil {
		return true, err
	}
	if n := flags.NArg() - len(strings.Fields(name)); n < c.min || n > c.max {
		return true, errors.New("not its number of arguments")
	}
	return true, nil
}

// writes are the verbs that take --dry-run.
var writes = []string{"annotate", "apply", "create", "delete", "label", "patch", "replace", "set"}

// anObject is in each file that a call names.
const anObject = `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "of-a-file"}}`

// kubectlKnows gives each call to kubectl, or to the table. An empty server tells that
// what a call names isn't there; anything else that kubectl says is about the call.
// Whether a call fits an object that is there, TestPlans shows.
func kubectlKnows(t *testing.T, calls map[string]string) {
	server := startServer(t)
	kubectl, err := apiserver.Kubectl(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var g errgroup.Group
	g.SetLimit(4)
	asked := 0
	for line, words := range split(t, slices.Sorted(maps.Keys(calls))) {
		words = words[1:]
		if found, err := own(words); found {
			if err != nil {
				t.Errorf("%s: %s: %v", calls[line], line, err)
			}
			continue
		}
		asked++
		g.Go(func() error {
			if said := server.objectsTo(t, kubectl, dir, words); said != "" {
				t.Errorf("%s: %s: %s", calls[line], line, said)
			}
			return nil
		})
	}
	_ = g.Wait()
	for _, wrong := range []string{"get nodes --no-flag", "rollout status", "label node", "wait node/n", "get kindless", "get nodes -o jsonpath={", "adm no-verb"} {
		if server.objectsTo(t, kubectl, dir, strings.Fields(wrong)) == "" {
			t.Errorf("kubectl accepts %q", wrong)
		}
	}
	for _, wrong := range []string{"adm upgrade 4.20", "adm upgrade status", "adm upgrade --into=4.20", "adm inspect --dest-dir=d"} {
		if found, err := own(strings.Fields(wrong)); !found || err == nil {
			t.Errorf("the table has %q", wrong)
		}
	}
	if asked < 50 {
		t.Errorf("kubectl was asked about %d calls only", asked)
	}
	t.Logf("%d calls of oc, kubectl was asked about %d", len(calls), asked)
}

// objectsTo is what kubectl has against a call, "" for nothing.
func (s *server) objectsTo(t *testing.T, kubectl, dir string, words []string) string {
	t.Helper()
	for i, w := range words {
		if w == "-f" && i+1 < len(words) {
			path := filepath.Join(dir, words[i+1])
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if filepath.Ext(path) == "" {
				path = filepath.Join(path, "object.yaml")
				_ = os.MkdirAll(filepath.Dir(path), 0o755)
			}
			write(t, path, []byte(anObject))
		}
	}
	cmd := exec.CommandContext(t.Context(), kubectl, words...)
	for _, verb := range writes {
		if has(words, verb) && !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, "--dry-run") }) {
			cmd.Args = append(cmd.Args, "--dry-run=server")
		}
	}
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "HOME="+dir)
	out, err := cmd.CombinedOutput()
	differs := has(words, "diff") && cmd.ProcessState.ExitCode() == 1
	none := strings.Contains(string(out), "index out of bounds") // the first of an empty list
	if err == nil || differs || none || strings.Contains(strings.ToLower(string(out)), "error from server (notfound)") {
		return ""
	}
	return string(out)
}
