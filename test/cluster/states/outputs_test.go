package states

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/winbake/winbake/internal/cli/app"
	"github.com/winbake/winbake/internal/cli/bake"
	"github.com/winbake/winbake/internal/cli/verify"
)

// shown are the commands of all outputs of all states, each with a state that
// shows it.
type shown struct {
	// lines are those that a text shows, whole are commands of a report in JSON,
	// which may have several lines.
	lines, whole map[string]string
	// calls are the commands of oc in all of them, in the scripts and the pages.
	calls map[string]string
	// sets are each state's DaemonSets, by the file that an action saves one in.
	sets map[string]map[string][]byte
}

// commandKeys are where a report in JSON has commands.
var commandKeys = []string{"command", "commands", "wait", "done", "final", "undo", "remedy", "fix"}

func outputs(t *testing.T) *shown {
	t.Helper()
	all := &shown{lines: map[string]string{}, whole: map[string]string{}, calls: map[string]string{}, sets: map[string]map[string][]byte{}}
	list := states()
	for i := range list {
		s := &list[i]
		asked := s.asked(t, t.TempDir())
		all.text(s.name, run(t, append([]string{"skew"}, asked...)...).stdout)
		all.text(s.name, run(t, append([]string{"skew", "-o", "markdown"}, asked...)...).stdout)
		all.json(t, s.name, run(t, append([]string{"skew", "-o", "json"}, asked...)...).stdout)
		all.html(s.name, run(t, append([]string{"skew", "-o", "html"}, asked...)...).stdout)
		all.call(s.name, scriptFrame.ReplaceAllString(run(t, append([]string{"skew", "plan", "-o", "script"}, asked...)...).stdout, ""))
		if s.to != "" {
			all.text(s.name, run(t, append([]string{"skew", "plan", "-o", "markdown"}, asked...)...).stdout)
			all.json(t, s.name, run(t, append([]string{"skew", "plan", "-o", "json"}, asked...)...).stdout)
		}
		all.sets[s.name] = map[string][]byte{}
		for k := range s.cluster.drivers {
			d := &s.cluster.drivers[k]
			all.sets[s.name][d.namespace+"."+d.name+"-old.yaml"] = yamlOf(t, s.cluster.daemonSet(d))
		}
	}
	if len(all.lines) < 50 || len(all.whole) < 50 {
		t.Fatalf("only %d lines and %d commands were found", len(all.lines), len(all.whole))
	}
	return all
}

// text gathers the command lines of a text: a command begins its line.
func (a *shown) text(state, out string) {
	for line := range strings.Lines(out) {
		if command.MatchString(line) {
			line = strings.TrimSpace(line)
			a.lines[line] = state
			a.call(state, line)
		}
	}
}

// json gathers commands by the names of their fields.
func (a *shown) json(t *testing.T, state, out string) {
	t.Helper()
	var doc any
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s: %v\n%s", state, err, out)
	}
	a.walk(state, "", doc)
}

func (a *shown) walk(state, key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			a.walk(state, k, x)
		}
	case []any:
		for _, x := range v {
			a.walk(state, key, x)
		}
	case string:
		switch {
		case key == "remedy" || key == "fix":
			a.text(state, v) // prose, and lines of commands
			for _, m := range inBackticks.FindAllStringSubmatch(v, -1) {
				a.call(state, m[1])
			}
		case slices.Contains(commandKeys, key) && v != "":
			a.whole[v] = state
			a.call(state, v)
		}
	}
}

// placeholder is what a person is to put something in for, and a shell reads as a
// redirection.
var placeholder = regexp.MustCompile(`<[A-Za-z][A-Za-z0-9 ._-]*>`)

// TestCommands holds every command that any output shows: a shell reads it, bake
// and verify know its flags, and every folder that bake is to write, it writes.
func TestCommands(t *testing.T) {
	t.Parallel()
	all := outputs(t)
	mine := map[string]string{}
	for _, from := range []map[string]string{all.lines, all.whole} {
		for line, state := range from {
			if placeholder.MatchString(line) {
				t.Errorf("%s: a placeholder in: %s", state, line)
			}
			for part := range strings.Lines(line) {
				if part = strings.TrimSpace(part); strings.HasPrefix(part, "bake ") || strings.HasPrefix(part, "verify ") {
					mine[part] = state
				}
			}
		}
	}
	t.Run("a shell reads them", func(t *testing.T) { shellReads(t, all.whole); shellReads(t, all.lines) })
	words := split(t, slices.Sorted(maps.Keys(mine)))
	t.Run("bake and verify know them", func(t *testing.T) {
		for line, w := range words {
			if err := known(w); err != nil {
				t.Errorf("%s: %s: %v", mine[line], line, err)
			}
		}
	})
	t.Run("bake writes the folders", func(t *testing.T) {
		n := 0
		for _, line := range slices.Sorted(maps.Keys(words)) {
			if strings.HasPrefix(line, "bake manifests csi-driver ") {
				n++
				bakes(t, mine[line], line, words[line], all.sets[mine[line]])
			}
		}
		if n < 10 {
			t.Errorf("only %d folders were asked for", n)
		}
	})
	t.Run("kubectl knows what oc has from it", func(t *testing.T) { kubectlKnows(t, all.calls) })
	t.Logf("%d lines, %d commands, %d of bake and verify", len(all.lines), len(all.whole), len(words))
}

// shellReads lets bash read each command without running it, and one at a time
// where they can't all be read.
func shellReads(t *testing.T, commands map[string]string) {
	t.Helper()
	var b strings.Builder
	for i, line := range slices.Sorted(maps.Keys(commands)) {
		fmt.Fprintf(&b, "f%d() {\n%s\n}\n", i, line)
	}
	if parses(t, b.String()) == nil {
		return
	}
	for line, state := range commands {
		if err := parses(t, line); err != nil {
			t.Errorf("%s: %s: %v", state, line, err)
		}
	}
}

func parses(t *testing.T, script string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.New(string(out))
	}
	return nil
}

// split has bash take lines apart into words. A variable in one is something that
// a person gives.
func split(t *testing.T, lines []string) map[string][]string {
	t.Helper()
	var b strings.Builder
	b.WriteString("TO=4.20.6 RELEASE=4.20.6 DIGEST=sha256:0 NAMESPACE=ns CONTAINER=c REGISTRY=r.example/me OPERATORS=o node=node/n host=n pod=pod/p selector=a=b newest=1\nskopeo() { echo sha256:0; }\n")
	for _, line := range lines {
		fmt.Fprintf(&b, "set -- %s\nprintf '%%s\\0' \"$@\" \"\"\n", line)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euf")
	cmd.Stdin, cmd.Dir = strings.NewReader(b.String()), t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	words := map[string][]string{}
	var current []string
	i := 0
	for _, w := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if w != "" {
			current = append(current, w)
			continue
		}
		words[lines[i]], current = current, nil
		i++
	}
	return words
}

// known tells whether the command that a line calls takes its flags and arguments.
func known(words []string) error {
	a := &app.App{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	root := verify.New(a)
	if words[0] == "bake" {
		root = bake.New(a)
	}
	cmd, rest, err := root.Find(words[1:])
	if err != nil {
		return err
	}
	if !cmd.Runnable() {
		return fmt.Errorf("%s does nothing by itself", cmd.CommandPath())
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return err
	}
	return argsOf(cmd)
}

func argsOf(cmd *cobra.Command) error { return cmd.ValidateArgs(cmd.Flags().Args()) }

// bakes runs bake in a folder of its own, with the DaemonSets that an action saves
// first.
func bakes(t *testing.T, state, line string, words []string, sets map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range sets {
		if slices.Contains(words, name) {
			write(t, filepath.Join(dir, name), text)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, words[1:]...)
	cmd.Args[0], cmd.Dir = words[0], dir // TestMain is bake
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %s: %v: %s", state, line, err, out)
		return
	}
	out := words[slices.Index(words, "--out")+1]
	if _, err := os.Stat(filepath.Join(dir, out, "08-daemonset.yaml")); err != nil {
		t.Errorf("%s: %s: %v", state, line, err)
	}
}
