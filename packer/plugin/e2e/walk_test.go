//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shown is a command of a document, with what it's shown to print.
type shown struct {
	command string
	prints  []string
}

// commands are those of a document's console blocks, in their order.
func commands(t *testing.T, name string) (all []shown) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		command, is := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && is:
			all = append(all, shown{command: command})
		case inside && line != "" && line != "..." && len(all) > 0:
			all[len(all)-1].prints = append(all[len(all)-1].prints, line)
		}
	}
	return all
}

// TestFromCloneToTemplate: a new user's way, with the commands of the documents
// and nothing else: from a clone to a template in the simulated vCenter.
func TestFromCloneToTemplate(t *testing.T) {
	t.Parallel()
	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.CommandContext(t.Context(), "git", "clone", "--quiet", root, clone).CombinedOutput(); err != nil {
		t.Fatalf("git clone: %v\n%s", err, out)
	}
	labs := 0
	for _, c := range commands(t, "docs/golden-image.md") {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", c.command)
		cmd.Dir = clone
		// A make above this test would hand down its flags.
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS=") })
		cmd.Env = append(cmd.Env, "GOFLAGS=-trimpath", "PACKER_NO_COLOR=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", c.command, err, out)
		}
		if strings.HasPrefix(c.command, "bin/lab ") {
			labs++
		}
		folded := regexp.MustCompile(` +`).ReplaceAllString(string(out), " ")
		for _, line := range c.prints {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(regexp.MustCompile(` +`).ReplaceAllString(line, " ")), `\.\.\.`, ".*")
			if !regexp.MustCompile(pattern).MatchString(folded) {
				t.Errorf("%s doesn't print %q, but\n%s", c.command, line, out)
			}
		}
	}
	if labs != 2 {
		t.Errorf("%d commands ran in the lab: is a fence misspelt?", labs)
	}
	made, err := filepath.Glob(filepath.Join(clone, "_output/docs-golden/*.node.json"))
	if err != nil || len(made) != 1 {
		t.Fatalf("the build left the manifests %v, %v", made, err)
	}
	data, err := os.ReadFile(made[0])
	if err != nil {
		t.Fatal(err)
	}
	if m := parsed(t, made[0], data); len(m.Content.Files) != 1 || m.Content.Release != "4.20" {
		t.Errorf("%s:\n%s", made[0], data)
	}
}
